"""What every executor says of an index that is outside the axis that it indexes."""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError, Where


def index_error(
    index: int, at: Sequence[int], axis: int, extent: int, place: str = "", where: Where | None = None
) -> TinycError:
    """The error for element `at` of a tensor of indices, which is no index of an axis of `extent` elements."""
    valid = f"an index is one of 0 … {extent - 1}" if extent else "an axis of extent 0 has no index"
    outside = f"index {index} at {list(at)} is outside axis {axis} of extent {extent}{' ' + place if place else ''}"
    return TinycError("IndexOutOfRange", f"{outside}; {valid}", where)
