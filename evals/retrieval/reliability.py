"""The reliability diagram as SVG, drawn by hand: what confidence promised against what was answerable."""

from collections.abc import Iterator, Sequence
from typing import Final

from evals.retrieval.gating import GATE, Bin

SIZE: Final = 360
"""Side of the square. Unit: pixels."""
MARGIN: Final = 56
"""Room around it for the labels. Unit: pixels."""
BAR: Final = 8
"""Width of the bar that shows how many questions a bin holds. Unit: pixels."""
BAR_SHARE: Final = 0.2
"""Height of the highest bar, as a share of the square."""


def draw(bins: Sequence[Bin]) -> str:
    """Return the diagram: a point a bin, the diagonal of honesty, and at the foot how many questions each bin holds."""
    side = SIZE + 2 * MARGIN
    filled = [b for b in bins if b.n]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" font-family="sans-serif" '
            'font-size="12" role="img" aria-label="Reliability of retrieval confidence">',
            f'<rect width="{side}" height="{side}" fill="#fff"/>',
            *_frame(),
            *_bars(filled),
            *_curve(filled),
            "</svg>\n",
        ]
    )


def _frame() -> Iterator[str]:
    yield f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>'
    yield f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#888" stroke-dasharray="4 4"/>'
    yield f'<line x1="{_x(GATE)}" y1="{_y(0)}" x2="{_x(GATE)}" y2="{_y(1)}" stroke="#c33" stroke-dasharray="2 4"/>'
    yield _text(_x(GATE), MARGIN - 8, f"gate {GATE:g}", fill="#c33")
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield _text(_x(tick), _y(0) + 18, f"{tick:g}")
        yield _text(MARGIN - 18, _y(tick) + 4, f"{tick:g}")
    yield _text(_x(0.5), _y(0) + 40, "retrieval confidence, mean of the tenth")
    yield f'<g transform="translate({MARGIN - 38} {_y(0.5)}) rotate(-90)">{_text(0, 0, "share answerable")}</g>'


def _bars(bins: Sequence[Bin]) -> Iterator[str]:
    most = max((b.n for b in bins), default=1)
    for b in bins:
        height = BAR_SHARE * SIZE * b.n / most
        left, top = _x(b.confidence) - BAR / 2, _y(0) - height
        yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{BAR}" height="{height:.1f}" fill="#ccd"/>'


def _curve(bins: Sequence[Bin]) -> Iterator[str]:
    points = " ".join(f"{_x(b.confidence):.1f},{_y(b.answerable):.1f}" for b in bins)
    yield f'<polyline points="{points}" fill="none" stroke="#247" stroke-width="2"/>'
    for b in bins:
        told = f"<title>{b.n} questions: said {b.confidence:.2f}, were {b.answerable:.2f}</title>"
        yield f'<circle cx="{_x(b.confidence):.1f}" cy="{_y(b.answerable):.1f}" r="4" fill="#247">{told}</circle>'


def _text(x: float, y: float, text: str, *, fill: str = "#333") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" fill="{fill}">{text}</text>'


def _x(value: float) -> float:
    return MARGIN + value * SIZE


def _y(value: float) -> float:
    return MARGIN + (1 - value) * SIZE
