"""Laws of search. Source: KB-05…07, libraries table "keyword index"."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.article import Article
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.budget import Candidate, fit_passages
from shared.retrieval.found import weigher
from shared.retrieval.fusion import MIN_RELEVANCE, fuse
from shared.retrieval.tenant_index import TenantIndex
from shared.retrieval.tokens import analyse, fold, query_words, surface_tokens, terms_of

WORDS = st.sampled_from(["red", "blue", "sku-1", "return", "ship", "gift", "box"])
TEXTS = st.lists(WORDS, max_size=8)
STEPS = st.lists(st.tuples(st.sampled_from("abcdefg"), st.one_of(st.none(), st.tuples(TEXTS, TEXTS))), max_size=30)
RANKINGS = st.lists(st.sampled_from([f"a{i}" for i in range(30)]), unique=True, max_size=15)


@pytest.mark.req("KB-06")
@given(steps=STEPS, query=TEXTS)
def test_index_changed_step_by_step_ranks_as_one_built_afresh(
    steps: list[tuple[str, tuple[list[str], list[str]] | None]], query: list[str]
) -> None:
    """Any order of puts, replacements and removals; scores are equal to the last bit."""
    index, left = KeywordIndex(), dict[str, tuple[list[str], list[str]]]()
    for id, texts in steps:
        if texts is None:
            index.remove(id)
            left.pop(id, None)
        else:
            index.put(id, *texts)
            left[id] = texts
    fresh = KeywordIndex()
    for id in sorted(left):
        fresh.put(id, *left[id])

    assert index.search(query, 5) == fresh.search(query, 5)
    assert len(index) == len(fresh)
    assert index.size_bytes >= fresh.size_bytes >= 0


@pytest.mark.req("KB-06", "KB-13")
@given(steps=STEPS, later=STEPS, query=TEXTS)
def test_index_taken_apart_and_put_together_goes_on_as_if_nothing_had_been(
    steps: list[tuple[str, tuple[list[str], list[str]] | None]],
    later: list[tuple[str, tuple[list[str], list[str]] | None]],
    query: list[str],
) -> None:
    """What a snapshot restores ranks the same, and changes the same ever after."""
    index = KeywordIndex()
    _change(index, steps)
    restored = KeywordIndex.of_parts(index.to_parts())

    assert restored.search(query, 9) == index.search(query, 9)
    for each in (index, restored):
        _change(each, later)
    assert restored.search(query, 9) == index.search(query, 9)
    assert len(restored) == len(index)


def _change(index: KeywordIndex, steps: list[tuple[str, tuple[list[str], list[str]] | None]]) -> None:
    for id, texts in steps:
        if texts is None:
            index.remove(id)
        else:
            index.put(id, *texts)


@pytest.mark.req("KB-06")
@given(texts=st.lists(TEXTS, min_size=1, max_size=8), query=TEXTS, n=st.integers(1, 8))
def test_search_returns_the_best_n_of_the_full_ranking(texts: list[list[str]], query: list[str], n: int) -> None:
    """Cutting early never changes what stands above the cut."""
    index = KeywordIndex()
    for i, text in enumerate(texts):
        index.put(f"a{i}", [], text)

    assert index.search(query, n) == index.search(query, 100)[:n]


@pytest.mark.req("KB-05", "KB-06", "KB-07")
@given(vector=RANKINGS, keyword=RANKINGS, ahead=st.sets(st.sampled_from(["a0", "a1", "z9"])), top_k=st.integers(1, 25))
def test_fused_relevance_is_a_share_and_exact_matches_lead(
    vector: list[str], keyword: list[str], ahead: set[str], top_k: int
) -> None:
    """0–1, no id twice, exact matches first, the rest in falling relevance; being ahead changes no relevance."""
    hits = fuse(vector, keyword, ahead=ahead, top_k=top_k)
    plain = {hit.id: hit.relevance for hit in fuse(vector, keyword, top_k=20)}

    ids = [hit.id for hit in hits]
    rest = [hit.relevance for hit in hits if not hit.is_identifier_match]
    assert len(set(ids)) == len(ids) <= min(top_k, 20)
    assert [hit.is_identifier_match for hit in hits] == sorted((hit.is_identifier_match for hit in hits), reverse=True)
    assert rest == sorted(rest, reverse=True)
    assert all(0 <= hit.relevance <= 1 for hit in hits)
    assert all(relevance >= MIN_RELEVANCE for relevance in rest)
    assert all(hit.relevance == plain[hit.id] for hit in hits if hit.id in plain)


@pytest.mark.req("KB-07")
@given(
    contents=st.lists(st.text(alphabet="ab .!?\n。", max_size=400), max_size=20),
    overhead=st.integers(0, 200),
    budget=st.integers(1, 1_000),
)
def test_passages_fit_the_budget_and_are_pieces_of_their_articles(
    contents: list[str], overhead: int, budget: int
) -> None:
    """Whatever the articles look like."""
    passages = fit_passages(
        [Candidate(content, overhead) for content in contents],
        lambda sentence: {"a": 1.0} if "a" in sentence else {},
        budget_chars=budget,
    )

    assert sum(len(p) + overhead for p in passages) <= budget
    assert all(passage in content for passage, content in zip(passages, contents, strict=False))


SENTENCE_WORDS = st.sampled_from(
    ["Ships", "shipping", "re-ship", "don't", "SKU-4521", "sku", "4521", "running", "runs", "pre-order", "preorder",
     "a/b", "x_ships", "café", "the", "tie", "dying", "happy", "happily", "customer's", "sky", "skies"]
)  # fmt: skip


@pytest.mark.req("KB-07")
@given(sentence=st.lists(SENTENCE_WORDS, max_size=8), question=st.lists(SENTENCE_WORDS, min_size=1, max_size=5))
def test_a_sentence_weighs_what_its_whole_analysis_says(sentence: list[str], question: list[str]) -> None:
    """Words are ruled out by their beginning before they are stemmed: nothing that matches is lost by it."""
    index, words = TenantIndex(), query_words(" ".join(question))
    index.apply(
        Article(
            article_id=ArticleId("a"),
            tenant_id=TenantId("t1"),
            version=1,
            type=ArticleType.FAQ,
            title=PublishedText("Ships"),
            content=PublishedText("We ship and run."),
            language="en",
            updated_at=datetime(2026, 3, 2, tzinfo=UTC),
        )
    )
    text = " ".join(sentence)
    asked = set(terms_of(word for word in words if word.is_content))
    # An elision is folded before words are cut.
    terms = {term for token in surface_tokens(text) for term in analyse(token)}

    assert set(weigher(words, index)(text)) == asked & terms


@pytest.mark.req("KB-06")
@given(text=st.text(max_size=80))
def test_folding_is_stable_and_blind_to_case(text: str) -> None:
    """Folding twice is folding once; analysis of any text ends in terms without spaces."""
    assert fold(fold(text)) == fold(text)
    assert analyse(fold(text)) == analyse(text)
    assert all(term and not term.isspace() for term in analyse(text))
    assert len(query_words(text)) <= 96
