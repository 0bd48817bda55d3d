"""The typing rules of Tiny: one pure function per op, shared by the verifier and the importer.

`infer(op, operands, arguments)` takes the operands' types and the op's arguments as plain values (`perm` a tuple of
ints, `value` a number, …) and returns the result types with the assumptions that they rest on. The ops whose result
shape is part of the program (`reshape`, `expand`, `view`, the leaves) find it under `shape`, an element type that is
part of the program (`cast`, `reduce`, the leaves) under `element`. Everything raised is a `TinycError` with the code
of the broken rule (specification 001 §3-4) and no place: the caller knows that.

In reading order:

    rule            what the rules share: what one takes and gives, and checks that several of them make
    elementwise     element-wise ops
    movement, view  movements; `view` by its map
    compute         `reduce` and the leaves
    data_dependent  `gather`, `scatter` and `topk`
"""

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import ExtentError
from tinyc.vocabulary.elementwise import ELEMENTWISE
from tinyc.vocabulary.infer import compute, data_dependent, elementwise, movement, view
from tinyc.vocabulary.infer.rule import (
    Arguments,
    Assumption,
    Inferred,
    Operands,
    Rule,
    check_constant,
    check_extents,
)

__all__ = [
    "ELEMENTWISE",
    "LEAVES",
    "MOVEMENT",
    "NON_SCOP",
    "RULES",
    "Assumption",
    "Inferred",
    "check_constant",
    "check_extents",
    "infer",
]

MOVEMENT = ("reshape", "permute", "expand", "pad", "shrink", "flip", "view", "pool")
LEAVES = ("const", "iota", "rand")
NON_SCOP = ("gather", "scatter", "topk")

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **view.RULES,
    **compute.RULES,
    **data_dependent.RULES,
}


def infer(op: str, operands: Operands, arguments: Arguments) -> Inferred:
    """The result types of the Tiny op named `op` (without its `tiny.` prefix).

    Raises:
        TinycError: the code of the rule that the operands or the arguments break.
    """
    try:
        inferred = RULES[op](operands, arguments)
    except ExtentError as error:  # a computed extent that grows out of bounds
        raise TinycError("InvalidExtent", str(error)) from None
    for result in inferred.types:
        check_extents(result)
    return inferred
