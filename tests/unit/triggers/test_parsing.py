"""Strict reading of request bodies, queries and ids."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrators.triggers.models import FeedbackIn, MessageIn, Nothing, ThreadQuery
from orchestrators.triggers.parsing import MAX_DEPTH, MESSAGE_BYTES, read_body, read_ids, read_json, read_query
from orchestrators.triggers.problems import Problem, ProblemKind


def read_message(body: bytes, content_type: str = "application/json") -> MessageIn:
    """Read a message the way the messages path does."""
    return read_body(MessageIn, body, max_bytes=MESSAGE_BYTES, content_type=content_type, is_optional=False)


def status_of(body: bytes) -> int:
    """Return the status a body is refused with, 200 when it is a message."""
    try:
        read_message(body)
    except Problem as refused:
        return refused.kind.status
    return 200


REFUSED = {
    "empty": (b"", ProblemKind.MALFORMED_JSON),
    "not JSON": (b"hello", ProblemKind.MALFORMED_JSON),
    "an array": (b"[]", ProblemKind.MALFORMED_JSON),
    "a string": (b'"text"', ProblemKind.MALFORMED_JSON),
    "null": (b"null", ProblemKind.MALFORMED_JSON),
    "cut short": (b'{"text": "hel', ProblemKind.MALFORMED_JSON),
    "trailing data": (b'{"text": "a"} {}', ProblemKind.MALFORMED_JSON),
    "a byte order mark": (b'\xef\xbb\xbf{"text": "a"}', ProblemKind.MALFORMED_JSON),
    "invalid UTF-8": (b'{"text": "\xff"}', ProblemKind.MALFORMED_JSON),
    "UTF-16": ('{"text": "a"}'.encode("utf-16"), ProblemKind.MALFORMED_JSON),
    "NaN": (b'{"text": NaN}', ProblemKind.MALFORMED_JSON),
    "Infinity": (b'{"text": -Infinity}', ProblemKind.MALFORMED_JSON),
    "a number out of range": (b'{"text": 1e999}', ProblemKind.MALFORMED_JSON),
    "an endless number": (b'{"text": ' + b"9" * 6000 + b"}", ProblemKind.MALFORMED_JSON),
    "a key twice": (b'{"text": "a", "text": "b"}', ProblemKind.MALFORMED_JSON),
    "a key twice, escaped once": (b'{"text": "a", "te\\u0078t": "b"}', ProblemKind.MALFORMED_JSON),
    "half a surrogate pair": (b'{"text": "\\ud83d"}', ProblemKind.MALFORMED_JSON),
    "half a pair in a key": (b'{"\\udc00": 1}', ProblemKind.MALFORMED_JSON),
    "too deep": (b'{"text": ' + b"[" * 40 + b"]" * 40 + b"}", ProblemKind.MALFORMED_JSON),
    "absurdly deep": (b"[" * 60_000, ProblemKind.MALFORMED_JSON),
    "too large": (b'{"text": "' + b"a" * MESSAGE_BYTES + b'"}', ProblemKind.TOO_LARGE),
    "no text": (b"{}", ProblemKind.INVALID_REQUEST),
    "text of the wrong type": (b'{"text": 5}', ProblemKind.INVALID_REQUEST),
    "text that is null": (b'{"text": null}', ProblemKind.INVALID_REQUEST),
    "an unknown field": (b'{"text": "a", "role": "system"}', ProblemKind.INVALID_REQUEST),
    "blank text": (b'{"text": " \\n\\t "}', ProblemKind.INVALID_REQUEST),
    "text that is too long": (json.dumps({"text": "a" * 8001}).encode(), ProblemKind.INVALID_REQUEST),
    "NUL in the text": (b'{"text": "a\\u0000b"}', ProblemKind.INVALID_REQUEST),
    "an escape character in the text": (b'{"text": "a\\u001b[2J"}', ProblemKind.INVALID_REQUEST),
    "a slash in the id": (b'{"text": "a", "message_id": "a/b"}', ProblemKind.INVALID_REQUEST),
    "a newline after the id": (b'{"text": "a", "message_id": "a\\n"}', ProblemKind.INVALID_REQUEST),
    "an id that is too long": (json.dumps({"text": "a", "message_id": "a" * 65}).encode(), ProblemKind.INVALID_REQUEST),
    "an empty id": (b'{"text": "a", "message_id": ""}', ProblemKind.INVALID_REQUEST),
    "an unknown channel": (b'{"text": "a", "channel": "fax"}', ProblemKind.INVALID_REQUEST),
    "a language that is none": (b'{"text": "a", "language": "\\u202e"}', ProblemKind.INVALID_REQUEST),
}


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(("body", "kind"), REFUSED.values(), ids=REFUSED.keys())
def test_a_hostile_body_is_refused_with_the_problem_that_names_why(body: bytes, kind: ProblemKind) -> None:
    """Source: GW-06 (size, length, encoding, JSON depth, unknown fields)."""
    with pytest.raises(Problem) as refused:
        read_message(body)

    assert refused.value.kind is kind


@pytest.mark.req("GW-06")
def test_field_errors_name_fields_and_never_repeat_values() -> None:
    """A problem document is logged and shown: what was sent stays out of it."""
    body = json.dumps({"text": 7, "channel": "ana@x.example", "<b>secret</b>": "ana@x.example"}).encode()

    with pytest.raises(Problem) as refused:
        read_message(body)

    said = " ".join(f"{e.field} {e.message}" for e in refused.value.errors)
    assert {e.field for e in refused.value.errors} == {"text", "channel", "(unnamed)"}
    assert "ana@x.example" not in said
    assert "secret" not in said


@pytest.mark.req("GW-06")
def test_text_is_trimmed_and_keeps_newlines_tabs_emoji_and_joiners() -> None:
    """Only what no store or page can hold is refused."""
    body = json.dumps({"text": "  a\r\nb\tc 👩‍👩‍👧 \u202bנשמח\u202c  "}).encode()

    message = read_message(body)

    assert message.text == "a\nb\tc 👩‍👩‍👧 \u202bנשמח\u202c"


@pytest.mark.req("GW-06")
def test_the_longest_text_in_the_widest_characters_fits() -> None:
    """8,000 characters are promised, whatever their bytes."""
    body = json.dumps({"text": "😀" * 8000}, ensure_ascii=False).encode()

    assert len(read_message(body).text) == 8000


@pytest.mark.req("GW-06")
def test_escaped_pairs_of_surrogates_are_one_character() -> None:
    """JSON may escape an emoji; that is not half a character."""
    assert read_message(b'{"text": "\\ud83d\\ude00"}').text == "😀"


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("body", [b'{"rating": true}', b'{"rating": "5"}', b'{"rating": 5.5}', b'{"rating": 6}'])
def test_a_rating_is_a_whole_number_and_nothing_is_guessed(body: bytes) -> None:
    """Strict types: true is not 1 and "5" is not 5."""
    with pytest.raises(Problem):
        read_body(FeedbackIn, body, max_bytes=100, content_type="", is_optional=False)


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
def test_another_media_type_is_refused(content_type: str) -> None:
    """415, before the body is looked at."""
    with pytest.raises(Problem) as refused:
        read_message(b'{"text": "a"}', content_type)

    assert refused.value.kind is ProblemKind.MEDIA_TYPE


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=UTF-8", "application/merge-patch+json", ""]
)
def test_json_in_utf8_is_taken(content_type: str) -> None:
    """A client that names no media type is taken at its word."""
    assert read_message(b'{"text": "a"}', content_type).text == "a"


@pytest.mark.req("GW-06")
def test_depth_counts_brackets_outside_strings_only() -> None:
    """A text full of brackets is a text."""
    deep = b'{"text": "' + b"[" * 500 + b'\\"{{"}'

    assert read_message(deep).text.startswith("[[[")


@pytest.mark.req("GW-06")
def test_the_deepest_nesting_allowed_is_read() -> None:
    """MAX_DEPTH levels pass, one more does not."""
    inner = MAX_DEPTH - 1
    body = b'{"a": ' + b"[" * inner + b"]" * inner + b"}"

    assert read_json(body, max_bytes=1000) == body
    with pytest.raises(Problem):
        read_json(b'{"a": ' + b"[" * (inner + 1) + b"]" * (inner + 1) + b"}", max_bytes=1000)


@pytest.mark.req("GW-06")
def test_an_optional_body_may_be_empty_but_not_say_something_unknown() -> None:
    """POST …/close takes nothing, `{}`, and nothing else."""
    for body in (b"", b"{}"):
        assert read_body(Nothing, body, max_bytes=10, content_type="", is_optional=True) == Nothing()
    with pytest.raises(Problem):
        read_body(Nothing, b'{"x": 1}', max_bytes=10, content_type="", is_optional=True)


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("value", ["a/b", "a%2Fb", "", "a" * 65, "a b", "a\x00", "a\n", "ä", "..;/x", "\ufffd"])
def test_a_hostile_path_id_is_refused_by_name(value: str) -> None:
    """Ids match [A-Za-z0-9._-]{1,64} (design §7)."""
    with pytest.raises(Problem) as refused:
        read_ids({"cid": value})

    assert refused.value.kind is ProblemKind.INVALID_ID
    assert refused.value.errors[0].field == "cid"


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    "params", [{"after_seq": "-1"}, {"after_seq": "x"}, {"after_seq": "1e400"}, {"after_seq": "9" * 30}, {"other": "1"}]
)
def test_a_malformed_query_is_refused(params: dict[str, str]) -> None:
    """Numbers are bounded, unknown parameters are told."""
    with pytest.raises(Problem) as refused:
        read_query(ThreadQuery, params)

    assert refused.value.kind is ProblemKind.INVALID_QUERY


@pytest.mark.req("GW-06")
@given(st.binary(max_size=300))
def test_no_bytes_at_all_make_reading_fail_otherwise_than_by_a_problem(body: bytes) -> None:
    """A law: any body is a message or a problem."""
    assert 400 <= status_of(body) < 500 or read_message(body).text


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.req("GW-06")
@given(st.dictionaries(st.sampled_from(["text", "message_id", "channel", "language", "x"]), _JSON))
def test_no_json_object_makes_reading_fail_otherwise_than_by_a_problem(value: dict[str, object]) -> None:
    """A law: any object is a message or a problem."""
    body = json.dumps(value).encode()

    assert 400 <= status_of(body) < 500 or read_message(body).text
