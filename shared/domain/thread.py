"""How a conversation's rows read as lines: what was said, by whom, in what order. Pure. Source: ME-05, AC-02."""

from shared.domain.sources import HistoryLine
from shared.domain.ticket import NoticeRow, PersonRow, ThreadRow


def to_lines(row: ThreadRow) -> tuple[HistoryLine, ...]:
    """Return a person's reply, a notice, or a customer's message and what answered it, masked as stored."""
    if isinstance(row, PersonRow | NoticeRow):
        role = "person" if isinstance(row, PersonRow) else "assistant"
        return (HistoryLine(seq=row.seq, role=role, text=row.text),)
    said = HistoryLine(seq=row.seq, role="customer", text=row.masked_text)
    if row.result is None or row.result.reply is None:
        return (said,)
    return said, HistoryLine(seq=row.reply_seq or row.seq, role="assistant", text=row.result.reply)
