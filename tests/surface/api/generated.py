"""Requests made from the OpenAPI document alone: some as it says, some wrong in one place, some hostile.

Reads JSON Schema as far as pydantic writes it. Knows nothing of the code behind the document.
"""

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Schema = Mapping[str, Any]

IDS = st.text(alphabet=string.ascii_letters + string.digits + "._-", min_size=1, max_size=64)
HOSTILE_TEXT = st.sampled_from(
    [
        "",
        " ",
        "\0",
        "a\x1bb",
        "../..",
        "'; drop table documents; --",
        "{{7*7}}",
        "\u202eabc",
        "🙂" * 50,
        "x" * 9_000,
        "\ufeff",
    ]
)
ANY_TEXT = st.text(max_size=40) | HOSTILE_TEXT
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)

CELLS = st.sampled_from(["a", "faq", "product", "1.50", '"x\ny"', '"', "ä", "<p>b</p>", ""])
FITTING_FILES = st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=4).map(
    lambda rows: "\n".join(["id,type,title,content", *(",".join(row) for row in rows)]).encode()
) | st.builds(
    lambda id, text: json.dumps({"id": id, "type": "faq", "title": "t", "content": text}).encode(), IDS, ANY_TEXT
)
"""Bodies of raw text: tables, and lines of JSON."""

FITTING_HEADERS = {
    "X-Conversation-Secret": st.just("fitting-secret-" + "s" * 43),
    "Prefer": st.sampled_from(["respond-async", "wait=0"]),
}
"""Values of headers that any caller may send."""


@dataclass(frozen=True)
class Made:
    """A request ready to send."""

    operation: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes | None


class Generator:
    """Strategies over one OpenAPI document.

    `known_ids` are ids that exist, by path parameter; `pinned` are values of fields, by schema and field.
    """

    def __init__(
        self, document: Schema, known_ids: Mapping[str, list[str]], pinned: Mapping[tuple[str, str], str]
    ) -> None:
        self._pinned = pinned
        self._schemas: Schema = document["components"]["schemas"]
        self._paths: Schema = document["paths"]
        self._known = known_ids

    def requests(self) -> st.SearchStrategy[Made]:
        """Return requests to every operation alike."""
        operations = [(path, method) for path, methods in sorted(self._paths.items()) for method in sorted(methods)]
        return st.tuples(st.sampled_from(operations), st.booleans()).flatmap(lambda at: self._request(*at[0], at[1]))

    def _request(self, path: str, method: str, is_fitting: bool) -> st.SearchStrategy[Made]:
        """Return requests to one operation: all as the document says, or with anything anywhere."""
        described: Schema = self._paths[path][method]
        by_place: dict[str, list[Schema]] = {"path": [], "query": [], "header": []}
        for parameter in described["parameters"]:
            by_place[parameter["in"]].append(parameter)
        return st.builds(
            lambda ids, query, headers, media, body: Made(
                described["operationId"], method.upper(), path.format(**ids), query, {**headers, **media}, body
            ),
            st.fixed_dictionaries({p["name"]: self._id(p["name"], is_fitting) for p in by_place["path"]}),
            self._query(by_place["query"], is_fitting),
            self._headers(by_place["header"], is_fitting),
            _media(described.get("requestBody")),
            self._body(described.get("requestBody"), is_fitting),
        )

    def _id(self, name: str, is_fitting: bool) -> st.SearchStrategy[str]:
        known = st.sampled_from(self._known[name]) if name in self._known else IDS
        hostile = st.sampled_from(["a%2Fb", "%00", "a" * 65, "%F0%9F%98%80", "a%20b", "~head"])
        return known if is_fitting else st.one_of(known, IDS, hostile)

    def _query(self, parameters: list[Schema], is_fitting: bool) -> st.SearchStrategy[dict[str, str]]:
        fitting = {p["name"]: self.value(p["schema"]).map(_as_query) for p in parameters if p["name"] != "continuation"}
        wild = {p["name"]: self.value(p["schema"]).map(_as_query) | ANY_TEXT for p in parameters}
        return st.fixed_dictionaries({}, optional=fitting if is_fitting else {**wild, "surplus": st.just("1")})

    def _headers(self, parameters: list[Schema], is_fitting: bool) -> st.SearchStrategy[dict[str, str]]:
        visible = st.text(alphabet=string.ascii_letters + string.digits + "._-=,; ", max_size=60).map(str.strip)
        names = [p["name"] for p in parameters]
        if is_fitting:
            return st.fixed_dictionaries({name: FITTING_HEADERS[name] for name in names if name in FITTING_HEADERS})
        return st.fixed_dictionaries({}, optional={n: FITTING_HEADERS.get(n, visible) | visible for n in names})

    def _body(self, described: Schema | None, is_fitting: bool) -> st.SearchStrategy[bytes | None]:
        if described is None:
            return st.none()
        if "application/json" not in described["content"]:
            return FITTING_FILES if is_fitting else FITTING_FILES | st.lists(ANY_TEXT).map(_as_lines)
        fitting = self.value(described["content"]["application/json"]["schema"])
        if is_fitting:
            return fitting.map(lambda value: json.dumps(value).encode())
        wrong = fitting.flatmap(lambda value: _broken(value) if isinstance(value, dict) else ANY_JSON)
        as_bytes = st.one_of(fitting, wrong, ANY_JSON).map(lambda value: json.dumps(value).encode())
        return st.one_of(as_bytes, as_bytes, as_bytes, st.binary(max_size=60), st.none())

    def value(self, schema: Schema, depth: int = 0) -> st.SearchStrategy[Any]:
        """Return values that fit the schema, as far as it says."""
        if "$ref" in schema:
            return self.value(self._schemas[schema["$ref"].rpartition("/")[2]], depth)
        if "anyOf" in schema:
            return st.one_of([self.value(option, depth) for option in schema["anyOf"]])
        if "enum" in schema:
            return st.sampled_from(list(schema["enum"]))
        if "const" in schema:
            return st.just(schema["const"])
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                most = min(schema.get("maxItems", 3), 3) if depth < 4 else schema.get("minItems", 0)
                items = self.value(schema.get("items", {}), depth + 1)
                return st.lists(items, min_size=schema.get("minItems", 0), max_size=most)
            case "string":
                return _string(schema)
            case "integer":
                return st.integers(schema.get("minimum", -10), schema.get("maximum", 10**6))
            case "number":
                return st.floats(schema.get("minimum", -1e6), schema.get("maximum", 1e6))
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
        return ANY_JSON

    def _object(self, schema: Schema, depth: int) -> st.SearchStrategy[Any]:
        properties: Schema = schema.get("properties", {})
        if not properties:
            extra = schema.get("additionalProperties")
            values = self.value(extra, depth + 1) if isinstance(extra, dict) else ANY_JSON
            return st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=3)
        required = set(schema.get("required", ()))
        title = schema.get("title", "")
        fields = {
            name: st.just(self._pinned[title, name]) if (title, name) in self._pinned else self.value(field, depth + 1)
            for name, field in properties.items()
        }
        return st.fixed_dictionaries(
            {name: value for name, value in fields.items() if name in required},
            optional={name: value for name, value in fields.items() if name not in required},
        )


def _media(described: Schema | None) -> st.SearchStrategy[dict[str, str]]:
    """Return the content type of a body that is not JSON."""
    raw = [] if described is None else [m for m in described["content"] if m != "application/json"]
    return st.sampled_from(raw).map(lambda media: {"Content-Type": media}) if raw else st.just({})


def _as_lines(texts: list[str]) -> bytes:
    return "\n".join(texts).encode()


def _string(schema: Schema) -> st.SearchStrategy[str]:
    if schema.get("format") == "date-time":
        return st.datetimes().map(lambda moment: moment.isoformat() + "Z")
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True).filter(lambda t: len(t) <= schema.get("maxLength", 64))
    return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 30), 30)) | HOSTILE_TEXT


def _broken(value: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return the object with one thing wrong: a field dropped, replaced, or a surplus one."""
    surplus = st.builds(lambda name, extra: {**value, name: extra}, st.text(max_size=8), ANY_JSON)
    if not value:
        return surplus
    name = st.sampled_from(sorted(value))
    dropped = name.map(lambda gone: {k: v for k, v in value.items() if k != gone})
    replaced = st.builds(lambda at, other: {**value, at: other}, name, ANY_JSON)
    return st.one_of(surplus, dropped, replaced)


def _as_query(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
