"""An index as bytes: whole, this tenant's, made by this code, or refused. Source: design §6 "Keyword index"."""

import hashlib
import pickle
from datetime import UTC, datetime

import pytest

from shared.domain.article import Article, ArticleStatus
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText
from shared.retrieval.index_file import DamagedSnapshot, of_bytes, to_bytes
from shared.retrieval.tenant_index import TenantIndex

pytestmark = pytest.mark.req("KB-13")

T1 = TenantId("t1")
HEAD = 44
"""Bytes before the header: what it is, its digest, the header's length."""


def _article(id: str, title: str, content: str, **attributes: str) -> Article:
    return Article(
        article_id=ArticleId(id),
        tenant_id=T1,
        version=1,
        type=ArticleType.PRODUCT,
        title=PublishedText(title),
        content=PublishedText(content),
        attributes=attributes,
        updated_at=datetime(2026, 3, 2, tzinfo=UTC),
    )


@pytest.fixture
def index() -> TenantIndex:
    """An index that has seen a change and a free slot."""
    index = TenantIndex()
    index.apply(_article("a", "Blue jar", "Burns for long.", sku="CND-1001"))
    index.apply(_article("b", "Roter Krug", "Das ist ein Krug für den Tisch.", sku="OAK POLISH"))
    index.apply(_article("c", "Gone", "Was here."))
    index.apply(_article("a", "Blue jar", "Burns for 40 hours.", sku="CND-1001").model_copy(update={"version": 2}))
    index.apply(_article("c", "", "").model_copy(update={"status": ArticleStatus.DELETED}))
    index.seq = 7
    return index


def test_a_restored_index_finds_what_the_original_finds(index: TenantIndex) -> None:
    """Words, identifiers, whole titles, languages, texts, and it goes on changing the same way."""
    restored = of_bytes(T1, to_bytes(T1, index))
    hits, article = index.keywords.search(["burn", "krug"], 5), index.get("a")

    for each in (index, restored):
        assert each.keywords.search(["burn", "krug"], 5) == hits
        assert each.exact_matches("is cnd-1001 blue?") == {"a"}
        assert each.exact_matches("oak polish") == {"b"}
        assert each.exact_matches("roter krug") == {"b"}
        assert (len(each), each.seq, sorted(each.languages)) == (2, 7, ["de", "en"])
        assert each.get("a") == article
        assert each.get("c") is None
        each.apply(_article("a", "Green jar", "New.").model_copy(update={"version": 3}))
        assert each.keywords.search(["burn"], 5) == ()
        assert each.exact_matches("cnd-1001") == frozenset()


def test_a_byte_that_changed_anywhere_is_noticed(index: TenantIndex) -> None:
    """The digest covers header and sections; the first bytes are compared."""
    whole = to_bytes(T1, index)

    for at in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        with pytest.raises(DamagedSnapshot):
            of_bytes(T1, bytes(damaged))


@pytest.mark.parametrize("n", [0, 10, 43, 44, 200, -1])
def test_bytes_that_are_cut_short_are_refused(index: TenantIndex, n: int) -> None:
    """At every place."""
    with pytest.raises(DamagedSnapshot):
        of_bytes(T1, to_bytes(T1, index)[:n])


def test_another_tenants_snapshot_is_refused(index: TenantIndex) -> None:
    """Whatever folder it lies in."""
    with pytest.raises(DamagedSnapshot):
        of_bytes(TenantId("t2"), to_bytes(T1, index))


def _forged(whole: bytes, old: bytes, new: bytes) -> bytes:
    """Return the bytes with a change and the digest that fits it: what a hostile file would look like."""
    body = whole[HEAD:].replace(old, new, 1)
    assert body != whole[HEAD:]
    return whole[:8] + hashlib.sha256(body).digest() + whole[40:44] + body


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"format":1', b'"format":2'),
        (b'"made_by":"', b'"made_by":"other '),
        (b'"seq":7', b'"seq":-'),
        (b'"held":', b'"help":'),
        (b'"articles":["b"', b'"articles":["z"'),
        (b'"slots":["a"', b'"slots":["b"'),
    ],
)
def test_a_snapshot_that_does_not_fit_is_refused_though_its_digest_does(
    index: TenantIndex, old: bytes, new: bytes
) -> None:
    """Another format, other code, a broken header, a section that is missing, names that contradict."""
    with pytest.raises(DamagedSnapshot):
        of_bytes(T1, _forged(to_bytes(T1, index), old, new))


class _Boom:
    """Unpickling this would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (pytest.fail, ("a snapshot ran code",))


def test_a_file_that_would_run_code_if_it_were_unpickled_is_only_refused(index: TenantIndex) -> None:
    """Bare, and as the articles of a snapshot whose digest fits."""
    hostile = pickle.dumps(_Boom())
    with pytest.raises(DamagedSnapshot):
        of_bytes(T1, hostile)

    whole = to_bytes(T1, index)
    with pytest.raises(DamagedSnapshot):
        of_bytes(T1, whole[:8] + hashlib.sha256(hostile).digest() + (0).to_bytes(4, "little") + hostile)
