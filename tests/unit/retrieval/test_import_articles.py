"""Records as articles: columns, refusals in words, HTML cleaned, products folded. Source: KB-01."""

import json

import pytest

from shared.domain.article import MAX_TITLE_CHARS
from shared.domain.intents import ArticleType
from shared.retrieval.import_articles import Prepared, Refused, UnusableFile, read_articles
from shared.retrieval.shopify_table import Withdrawn

GOOD = {"id": "returns", "type": "policy", "title": "Returns", "content": "Within 30 days."}
HEADER = (
    "Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,"
    "Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,"
    "Variant Compare At Price,Variant Barcode,Image Src,Status"
)
"""Columns of an export, shortened."""


def _jsonl(*records: object) -> list[Prepared | Refused | Withdrawn]:
    text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)
    return list(read_articles(text, is_csv=False, currency="EUR"))


def _csv(text: str) -> list[Prepared | Refused | Withdrawn]:
    return list(read_articles(text, is_csv=True, currency="EUR"))


def _products(*rows: str) -> list[Prepared | Refused | Withdrawn]:
    return _csv("\n".join((HEADER, *rows)))


def _prepared(found: Prepared | Refused | Withdrawn) -> Prepared:
    assert isinstance(found, Prepared), found
    return found


@pytest.mark.req("KB-01")
def test_a_line_of_json_becomes_an_article() -> None:
    """With everything an article can have; a page's HTML is cleaned and what it hid is kept for the screen."""
    line = GOOD | {
        "content": "<p>Within <b>30</b> days.</p><!-- psst -->",
        "tags": ["refund", " refund ", ""],
        "attributes": {"audience": "everyone"},
        "language": "en",
    }

    found = _prepared(_jsonl(line)[0])

    article = found.article
    assert (article.article_id, article.type) == ("returns", ArticleType.POLICY)
    assert (article.title.value, article.content.value) == ("Returns", "Within 30 days.")
    assert (article.tags, article.attributes, article.language) == (("refund",), {"audience": "everyone"}, "en")
    assert found.hidden == "psst"


@pytest.mark.req("KB-01", "GW-06")
@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("{not json", "is not a line of JSON"),
        ("[1]", "is not a JSON object"),
        ("[" * 100_000, "is not a line of JSON"),
        ({k: v for k, v in GOOD.items() if k != "title"}, "title: Field required"),
        (GOOD | {"id": "../etc"}, "article_id: an article id must match"),
        (GOOD | {"id": "import"}, "the id is reserved"),
        (GOOD | {"id": 7}, "id: Input should be a valid string"),
        (GOOD | {"type": "secret-word"}, "type: Input should be 'product', 'faq' or 'policy'"),
        (GOOD | {"title": " "}, "title: a title has 1 to"),
        (GOOD | {"title": "x" * (MAX_TITLE_CHARS + 1)}, "title: a title has 1 to"),
        (GOOD | {"content": "a\u0000b"}, "the content holds a control character"),
        (GOOD | {"content": "\ud800"}, "the content holds a control character"),
        (GOOD | {"price": "secret-word"}, "price: Extra inputs are not permitted"),
        (GOOD | {"attributes": {"price": 9}}, "attributes: Input should be a valid string"),
        (GOOD | {"language": "secret-word?"}, "language: String should match"),
    ],
)
def test_an_unusable_line_says_why_and_quotes_nothing(record: object, said: str) -> None:
    """The lines around it are read."""
    first, bad, last = _jsonl(GOOD, record, GOOD)

    assert isinstance(bad, Refused)
    assert (bad.line, said in bad.reason) == (2, True), bad.reason
    assert "secret-word" not in bad.reason
    assert isinstance(first, Prepared)
    assert isinstance(last, Prepared)


@pytest.mark.req("KB-01")
def test_a_row_becomes_an_article_and_its_attr_columns_attributes() -> None:
    """Tags by comma or bar; an empty attribute is none."""
    found = _csv(
        "Id,TYPE,title,content,tags,language,attr:price,attr:Care\n"
        'pan, Product ,Pan,"Heavy,\nand even.","iron, pan",en,49.00,\n'
        "pot,product,Pot,Deep.,a|b,,,by hand\n"
    )

    pan, pot = (_prepared(f).article for f in found)
    assert (pan.type, pan.content.value, pan.tags) == (ArticleType.PRODUCT, "Heavy,\nand even.", ("iron", "pan"))
    assert (pan.attributes, pot.attributes) == ({"price": "49.00"}, {"Care": "by hand"})
    assert pot.tags == ("a", "b")


@pytest.mark.req("KB-01", "GW-06")
@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("", "no header"),
        ("id,title,content", "lacks type"),
        ("id,type,title,content,Secret", "column 5 is not known"),
        ("id,type,title,content,attr:", "column 5 is not known"),
        ("id,type,title,content,ID", "column 5 stands there twice"),
    ],
)
def test_a_header_that_is_not_understood_stops_the_file_before_anything_is_read(header: str, said: str) -> None:
    """A typing error in a column's name must not lose a column of every row."""
    with pytest.raises(UnusableFile, match=said):
        read_articles(f"{header}\n", is_csv=True, currency="EUR")


@pytest.mark.req("KB-01")
def test_rows_of_one_handle_are_one_product() -> None:
    """Variants folded; rows that only bring an image are none; barcodes lose the spreadsheet's apostrophe."""
    found = _products(
        'shirt,Shirt,"<p>Linen,\nwashed.</p>",Hill,Shirts,"linen, summer",true,Size,S,Colour,Sea/Sand,'
        "SH-S,shopify,0,deny,49.00,,'4001,a.png,active",
        "shirt,,,,,,,,M,,Sea/Sand,SH-M,shopify,3,deny,54.50,,'4002,,",
        "shirt,,,,,,,,,,,,,,,,,,b.png,",
        "cap,Cap,,,,,true,Title,Default Title,,,,,,deny,19.00,25.00,,,",
    )

    shirt, cap = (_prepared(f) for f in found)
    assert (shirt.line, cap.line) == (2, 6)
    assert (shirt.article.article_id, shirt.article.content.value) == ("product-shirt", "Linen, washed.")
    assert shirt.article.tags == ("linen", "summer")
    assert shirt.article.attributes == {
        "price": "49.00-54.50",
        "currency": "EUR",
        "availability": "in stock, except: S · Sea/Sand",
        "Size": "S | M",
        "Colour": "Sea/Sand",
        "vendor": "Hill",
        "type": "Shirts",
        "variant_prices": "S · Sea/Sand: 49.00 EUR; M · Sea/Sand: 54.50 EUR",
        "handle": "shirt",
        "sku": "SH-S, SH-M",
        "barcode": "4001, 4002",
    }
    assert cap.article.attributes == {
        "price": "19.00",
        "currency": "EUR",
        "compare_at_price": "25.00",
        "availability": "unknown",
        "handle": "cap",
    }


@pytest.mark.req("KB-01")
def test_the_newer_names_of_the_columns_are_known_too() -> None:
    """Shopify renamed them; what sells on without stock is not called out of stock."""
    (found,) = _csv(
        "Title,URL handle,Description,Tags,Published on online store,Status,SKU,Option1 name,Option1 value,Price,"
        "Inventory tracker,Inventory quantity,Continue selling when out of stock\n"
        "Cap,cap,<b>Warm</b>,,TRUE,Active,C-1,Size,One,19.00,shopify,0,TRUE\n"
    )

    article = _prepared(found).article
    assert (article.content.value, article.attributes["sku"]) == ("Warm", "C-1")
    assert article.attributes["availability"] == "unknown"


@pytest.mark.req("KB-01")
@pytest.mark.parametrize(
    ("published", "status"), [("false", "active"), ("true", "draft"), ("true", "archived"), ("true", "unlisted")]
)
def test_what_is_not_for_sale_is_withdrawn(published: str, status: str) -> None:
    """Whatever the reason, and also in a status we do not know."""
    (found,) = _products(f"cap,Cap,,,,,{published},Title,Default Title,,,,,,deny,19.00,,,,{status}")

    assert isinstance(found, Withdrawn)
    assert found.article_id == "product-cap"


@pytest.mark.req("KB-01")
def test_a_handle_in_any_script_has_one_id() -> None:
    """Handles may be longer than an id or in letters an id cannot hold."""
    rows = [f"{handle},Cap,,,,,true,,,,,,,,deny,19.00,,,," for handle in ("スカーフ", "スカーフ-2", "a" * 200)]

    first, again = ([_prepared(f).article.article_id for f in _products(*rows)] for _ in range(2))

    assert first == again
    assert len(set(first)) == 3


@pytest.mark.req("KB-01", "GW-06")
def test_a_bad_row_leaves_its_product_and_the_others() -> None:
    """A broken row within a product, a price that is none, rows that stand apart from their product's first."""
    found = _products(
        "cap,Cap,,,,,true,Size,S,,,,,,deny,19.00,,,,",
        'cap,"torn',
        "cap,,,,,,,,M,,,,,,deny,19 euros,,,,",
        "cap,,,,,,,,L,,,,,,deny,1e999999,,,,",
        "cap,,,,,,,,XL,,,,,,deny,21.00,,,,",
        "hat,Hat,,,,,true,Title,Default Title,,,,,,deny,29.00,,,,",
        "cap,,,,,,,,XXL,,,,,,deny,22.00,,,,",
        ",No handle,,,,,true,Title,Default Title,,,,,,deny,1.00,,,,",
    )

    refused = {f.line: f.reason for f in found if isinstance(f, Refused)}
    articles = {f.article.article_id: f.article for f in found if isinstance(f, Prepared)}
    assert set(refused) == {3, 4, 5, 8, 9}
    assert "stand together" in refused[8]
    assert articles["product-cap"].attributes["price"] == "19.00-21.00"
    assert articles["product-hat"].attributes["price"] == "29.00"
