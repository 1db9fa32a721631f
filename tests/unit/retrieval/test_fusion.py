"""Weighted reciprocal rank fusion with its published numbers. Source: KB-05…07."""

import pytest

from shared.retrieval.fusion import MAX_TOP_K, InvalidRanking, Preference, Weights, fuse, pool_size, second_opinion


@pytest.mark.req("KB-05")
def test_first_in_both_rankings_has_relevance_one() -> None:
    """Normalised so that 1 means first in both."""
    (hit,) = fuse(["a"], ["a"])

    assert hit.relevance == pytest.approx(1.0)
    assert hit.is_strong


@pytest.mark.req("KB-05", "KB-07")
def test_a_vector_only_top_hit_has_0_7_and_a_keyword_only_one_0_3() -> None:
    """70 % and 30 %, by construction and whatever the question; 0.7 counts as strong."""
    hits = fuse(["v"], ["k"])

    assert [(h.id, round(h.relevance, 9), h.is_strong) for h in hits] == [("v", 0.7, True), ("k", 0.3, False)]


@pytest.mark.req("KB-05")
def test_relevance_follows_weight_over_k_plus_rank_with_k_60() -> None:
    """Second by vector, third by keyword: (0.7/62 + 0.3/63) · 61."""
    hits = fuse(["x", "a"], ["y", "z", "a"])

    relevance = next(h.relevance for h in hits if h.id == "a")
    assert relevance == pytest.approx((0.7 / 62 + 0.3 / 63) * 61)


@pytest.mark.req("KB-07")
def test_results_below_0_1_are_dropped() -> None:
    """A ranking of little weight gives results nobody should see."""
    hits = fuse(["a"], ["b"], weights=Weights(vector=0.95, keyword=0.05))

    assert [h.id for h in hits] == ["a"]


@pytest.mark.req("KB-07")
@pytest.mark.parametrize(("asked", "given"), [(5, 5), (20, 20), (50, MAX_TOP_K), (0, 1)])
def test_never_more_than_twenty_results(asked: int, given: int) -> None:
    """20 is the hard ceiling; the pool is three times what is asked."""
    ids = [f"a{i}" for i in range(100)]

    assert len(fuse(ids, [], top_k=asked)) == given
    assert pool_size(asked) == 3 * given


@pytest.mark.req("KB-06")
def test_exact_match_is_ahead_with_its_relevance_unchanged() -> None:
    """Identifiers first: order changes, relevance does not; even a match outside both pools is kept."""
    hits = fuse(["v1", "v2"], ["k1", "sku"], ahead={"sku", "outside"})

    assert [h.id for h in hits[:2]] == ["sku", "outside"]
    assert hits[0].relevance == pytest.approx(0.3 * 61 / 62)
    assert hits[0].is_identifier_match
    assert not hits[2].is_identifier_match


@pytest.mark.req("KB-05")
def test_repeated_id_is_refused() -> None:
    """A ranking names each article once."""
    with pytest.raises(InvalidRanking, match="'a'"):
        fuse(["a", "b", "a"], [])


@pytest.mark.req("CL-04")
def test_preferred_kind_wins_only_against_nearly_the_same_relevance() -> None:
    """The intent's kinds break ties; they never bring up what fits much less, and relevance stays as it was."""
    nudge = Preference(frozenset({"b", "z"}), bonus=0.012)

    hits = fuse(["a", "b", "c", "d", "e", "f", "z"], [], preference=nudge, top_k=20)

    assert [h.id for h in hits] == ["b", "a", "c", "d", "e", "z", "f"]
    assert hits[0].relevance < hits[1].relevance


@pytest.mark.req("KB-05")
def test_only_what_matches_nearly_as_well_as_the_best_joins_vectors() -> None:
    """From 90 % of the best score; an article that vectors cannot find, or that is named exactly, joins at any."""
    scored = [("best", 10.0), ("near", 9.0), ("far", 8.9), ("new", 1.0)]

    assert second_opinion(scored) == ("best", "near")
    assert second_opinion(scored, always={"new"}) == ("best", "near", "new")
    assert second_opinion([]) == ()


@pytest.mark.req("KB-05")
def test_a_stranger_with_a_common_word_does_not_pass_the_best_vector_hit() -> None:
    """Plain fusion gives 0.3 to whoever shares a word: fifteenth in both lists would then beat first in one."""
    vector = ["answer", *(f"v{i}" for i in range(13)), "stranger"]
    scored = [("other", 10.0), *((f"k{i}", 3.0) for i in range(13)), ("stranger", 2.0)]

    plain = fuse(vector, [id for id, _ in scored])
    joined = fuse(vector, second_opinion(scored))

    assert plain[0].id == "stranger"
    assert joined[0].id == "answer"
