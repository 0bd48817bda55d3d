"""What every executor says of an index that is outside the axis that it indexes."""

from tinyc.diagnostics import TinycError, Where


def index_error(index: str, axis: str, where: Where | None = None) -> TinycError:
    """The error: which index, which axis, and what an index has to be."""
    valid = "an index must be at least 0 and less than the axis' extent, and an axis of extent 0 has no valid index"
    return TinycError("IndexOutOfRange", f"index {index} is outside {axis}; {valid}", where)
