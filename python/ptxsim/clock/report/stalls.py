"""What warps wait for, as bars: by cause, then the lines of PTX that wait longest.

In: estimates with names, and the lines of their PTX. Out: the text of an SVG file. A bar is a part of the time for
which a warp is resident.
"""

from collections.abc import Mapping, Sequence

from ptxsim.clock.estimate import Estimate
from ptxsim.clock.report.canvas import CHARACTER_WIDTH, LINE_HEIGHT, Canvas
from ptxsim.clock.report.quantities import cause_text, line_text, share_text

#: Pixels: the longest bar, a bar's height, what is around the drawing.
_LONGEST, _BAR, _BORDER = 320.0, 14.0, 16.0
_KINDS = ("first", "second")
_MOST_LINES, _LEAST_SHARE, _SHOWN = 8, 0.005, 0.001

#: A bar's label, and the parts of the time by the names of the kernels.
_Bars = list[tuple[str, dict[str, float]]]


def stalls_svg(estimates: Mapping[str, Estimate], lines: Mapping[str, Sequence[str]]) -> str:
    """The chart of one kernel or two, by their names; `lines` are those of their PTX."""
    causes = {cause: 0.0 for each in estimates.values() for cause, share in each.causes.items() if share >= _SHOWN}
    groups: list[tuple[str, _Bars]] = [
        (
            "waits of a resident warp by cause, of the time",
            [(cause_text(each), _of(estimates, each)) for each in causes],
        )
    ]
    for name, estimate in estimates.items():
        texts = lines.get(name, ())
        waits = [each for each in list(estimate.waits.items())[:_MOST_LINES] if each[1] >= _LEAST_SHARE]
        bars = [
            (f"{line}: {line_text(texts, line, 50)} ({cause_text(cause)})", {name: share})
            for (cause, line), share in waits
        ]
        groups.append((f"{name}: by line of the PTX", bars))
    return _drawn(groups, list(estimates))


def _of(estimates: Mapping[str, Estimate], cause: str) -> dict[str, float]:
    return {name: each.causes.get(cause, 0.0) for name, each in estimates.items()}


def _drawn(groups: Sequence[tuple[str, _Bars]], names: Sequence[str]) -> str:
    bars = [bar for _, each in groups for bar in each]
    left = _BORDER + CHARACTER_WIDTH * max((len(label) for label, _ in bars), default=0) + 10
    most = max((share for _, shares in bars for share in shares.values()), default=0.0) or 1.0
    rows = sum(len(shares) for _, shares in bars)
    height = 2 * _BORDER + LINE_HEIGHT * (2 * len(groups) + len(names)) + (_BAR + 2) * rows + 4 * len(bars)
    canvas = Canvas(left + _LONGEST + 80, height)
    y = _BORDER + LINE_HEIGHT
    for number, name in enumerate(names):
        canvas.box(_BORDER, y - 10, 10, 10, _KINDS[number % 2])
        canvas.words(_BORDER + 16, y, name)
        y += LINE_HEIGHT
    for title, each in groups:
        canvas.words(_BORDER, y + 4, title, kind="title")
        y += LINE_HEIGHT
        for label, shares in each:
            canvas.words(left - 8, y + _BAR - 3, label, "end")
            for name, share in shares.items():
                kind, shown = _KINDS[names.index(name) % 2], share_text(share)
                canvas.box(left, y, max(1.0, _LONGEST * share / most), _BAR, kind, f"{name}, {label}: {shown}")
                canvas.words(left + _LONGEST * share / most + 6, y + _BAR - 3, shown)
                y += _BAR + 2
            y += 4
        y += LINE_HEIGHT
    return canvas.svg()
