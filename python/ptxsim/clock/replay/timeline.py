"""What happened when, on the tracks of a timeline: warps that waited, tensor pipes that were busy, copies, CTAs.

In: spans, as the replay comes to them. Out: the spans of each track. Times are cycles of the SM's clock.
"""

from collections import defaultdict
from typing import NamedTuple

#: Spans of one name that are not further apart, in cycles, are one span: a tensor pipe that is busy all the time is.
_NEAR = 2.0


class Track(NamedTuple):
    """A row of a timeline: `kind` is "warp", "tensor", "copies" or "CTA".

    `sm` is the SM's number in its cluster, `instance` counts the clusters of the replay, `cta` is the CTA's number in
    the grid, `unit` that of the warp or sub-partition. What does not apply is -1.
    """

    kind: str
    sm: int
    instance: int = -1
    cta: int = -1
    unit: int = -1


class Span(NamedTuple):
    """From `start` to `end` there was `name`, at a line of the PTX, 0 for none."""

    name: str
    line: int
    start: float
    end: float


class Timeline:
    """The spans of a replay, by track."""

    def __init__(self) -> None:
        self.spans: dict[Track, list[Span]] = defaultdict(list)

    def add(self, track: Track, name: str, line: int, start: float, end: float) -> None:
        """Add a span to a track; it goes on with the last one if that is alike and ends where this begins."""
        if end <= start:
            return
        spans = self.spans[track]
        if spans and spans[-1].name == name and spans[-1].line == line and 0 <= start - spans[-1].end <= _NEAR:
            spans[-1] = spans[-1]._replace(end=end)
        else:
            spans.append(Span(name, line, start, end))
