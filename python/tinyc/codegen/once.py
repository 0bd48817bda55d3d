"""Code that is emitted once: what stands in a block already is there for whoever asks for it again.

The threads of a kernel compute the places of many copies and fragments by one formula. Most of what that emits is the
same for all of them, and costs more to emit, and to be found again by CSE, than to be remembered.
"""

import contextlib
from collections.abc import Callable, Generator, Hashable
from typing import Any

from tinyc.mlir import ir

#: What has been emitted, by its block, by what emits it, and from what; a table for each function that is written.
_emitted: list[dict[Hashable, ir.Value]] = []


@contextlib.contextmanager
def emitted_once() -> Generator[None]:
    """Remember what `once` emits, until the end: no op of it may be erased before."""
    _emitted.append({})
    try:
        yield
    finally:
        _emitted.pop()


def once(emit: Callable[..., ir.Value], *operands: Hashable) -> ir.Value:
    """The value that `emit` makes of operands, which has no effects: the one that stands in the block, or emitted."""
    point: Any = ir.InsertionPoint.current  # whose stub lacks `ref_operation`
    if not _emitted or point.ref_operation is not None:  # what stands in the block may stand behind
        return emit(*operands)
    key = point.block, emit, operands
    known = _emitted[-1].get(key)
    if known is None:
        known = _emitted[-1][key] = emit(*operands)
    return known
