"""Two words of a lane in shared memory, which every other lane loads in the other order.

Of lines that lanes read at one place, a swizzle has some in the same banks. Each lane's other word is in a line that is
in other banks: where some lanes read that one first, all of them read at the same time.
"""

from collections.abc import Callable

from tinyc.codegen.words import AnyWord, equals
from tinyc.mlir import arith, ir


def loaded_in_turn(swaps: AnyWord, load: Callable[[AnyWord], list[ir.Value]]) -> tuple[list[ir.Value], list[ir.Value]]:
    """Emit the loads of two words of a lane, and return their elements: the second word first where `swaps` is 1.

    `load` takes which of both it is, 0 or 1.
    """
    early, late = load(swaps), load(swaps ^ 1)
    condition = equals(swaps, 1)

    def chosen(there: list[ir.Value], elsewhere: list[ir.Value]) -> list[ir.Value]:
        return [arith.select(condition, *each) for each in zip(there, elsewhere, strict=True)]

    return chosen(late, early), chosen(early, late)
