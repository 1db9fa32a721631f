"""Import files cut into records: a broken one costs itself alone. Source: KB-01, GW-06."""

import time

import pytest

from shared.retrieval.import_records import MAX_RECORD_LINES, Record, Table, read_jsonl, read_table, to_lines


def _table(text: str) -> Table:
    table = read_table(to_lines(text))
    assert table is not None
    return table


def _rows(text: str) -> list[Record]:
    return list(_table(text).rows)


@pytest.mark.req("KB-01")
def test_cells_may_span_lines_and_each_row_knows_its_first_line() -> None:
    """Line ends of either kind, a byte order mark, empty lines, letters beyond ASCII."""
    text = '\ufeffid,title\r\na,"one\r\ntwo"\r\n\r\nb,Größe\n,\nc,"say ""hi"""'

    rows = _rows(text)

    assert _table(text).header.cells == ("id", "title")
    assert [(r.line, r.cells) for r in rows] == [(2, ("a", "one\r\ntwo")), (5, ("b", "Größe")), (7, ("c", 'say "hi"'))]
    assert [r.text for r in rows] == ['a,"one\r\ntwo"\r\n', "b,Größe\n", 'c,"say ""hi"""']


@pytest.mark.req("KB-01")
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_says_what_parts_cells(delimiter: str) -> None:
    """Spreadsheets of some countries write semicolons."""
    rows = _rows(f"id{delimiter}title\na{delimiter}b\n")

    assert [r.cells for r in rows] == [("a", "b")]


@pytest.mark.req("KB-01", "GW-06")
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('b,"never closed', "unexpected end"),
        ('b,"closed" too early', "expected after"),
        ("b", "has 1 cells, the header has 2"),
        ("b,c,d", "has 3 cells, the header has 2"),
        ("b," + "x" * 200_000, "field larger"),
    ],
    ids=["open quote", "text behind a quote", "short", "long", "huge cell"],
)
def test_a_broken_row_costs_itself_alone(broken: str, said: str) -> None:
    """The rows before and behind it are read, wherever its quotes would have led."""
    rows = _rows(f"id,title\na,one\n{broken}\nc,three\nd,four\n")

    assert [r.cells for r in rows if not r.error] == [("a", "one"), ("c", "three"), ("d", "four")]
    ((line, error),) = [(r.line, r.error) for r in rows if r.error]
    assert line == 3
    assert said in error
    assert "x" * 50 not in error


def test_empty_cells_behind_the_last_column_are_nothing() -> None:
    """Spreadsheets leave them behind."""
    assert [r.cells for r in _rows("id,title\na,one,,\n")] == [("a", "one")]


def test_a_file_without_a_header_is_no_table() -> None:
    """Nothing at all, or an unreadable first line."""
    assert read_table(to_lines("")) is None
    assert read_table(to_lines('"never closed\na,b')) is None


def test_many_open_quotes_cost_no_more_than_many_lines() -> None:
    """Looking for the end of a row is bounded."""
    started = time.process_time()
    rows = _rows("id,title\n" + 'a,"b\n' * (3 * MAX_RECORD_LINES + 1))

    assert len(rows) > MAX_RECORD_LINES
    assert time.process_time() - started < 5


def test_lines_of_json_are_numbered_past_empty_ones() -> None:
    """Only lines that hold anything are records."""
    assert [(r.line, r.text) for r in read_jsonl(to_lines('{"a":1}\n\n {"b":2}'))] == [
        (1, '{"a":1}\n'),
        (3, ' {"b":2}'),
    ]
