"""Numbers as bars beside each other, a picture for `svg` to write."""

from collections.abc import Sequence

from tinyc.explain.drawing import CHARACTER, LINE, PADDING, Box, Picture
from tinyc.explain.layered import Point

#: Pixels: the longest bar, and between two.
_LONGEST, _GAP = 420.0, 6.0


def bar_picture(title: str, bars: Sequence[tuple[str, float, str]]) -> Picture:
    """A bar for each label and number, as long as the number is large; the last of each is how the number is shown."""
    wide = max(len(label) for label, _, _ in bars) * CHARACTER + 2 * PADDING
    most, height = max((number for _, number, _ in bars), default=0) or 1.0, LINE + PADDING
    longest = max(_LONGEST + max(len(shown) for _, _, shown in bars) * CHARACTER, len(title) * CHARACTER)
    boxes = [Box("input", Point(0.0, 0.0), wide + longest + 2 * PADDING, height, (title,), "")]
    for row, (label, number, shown) in enumerate(bars, 1):
        top = row * (height + _GAP)
        boxes.append(Box("input", Point(0.0, top), wide, height, (label,), ""))
        boxes.append(
            Box("tab", Point(wide, top), max(1.0, _LONGEST * number / most), height, (shown,), f"{label}: {shown}")
        )
    return Picture((), (), tuple(boxes), wide + longest + 2 * PADDING, (len(bars) + 1) * (height + _GAP))
