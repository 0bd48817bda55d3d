"""A block of a Poly-View's text with an access over a limit is refused, and the counts are named."""

import pytest

from analysis_programs.poly_blocks import axes_of, block, read
from tinyc import text
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly.view import PolyView
from tinyc.dialects.poly.encode import encode_item, encode_view
from tinyc.dialects.poly.ops import ViewOp
from tinyc.dialects.poly.verify import read_item
from tinyc.dialects.registry import context
from tinyc.expr import axes
from tinyc.mlir import ir
from tinyc.mlir.bodies import body_of, end_body
from tinyc.mlir.side_table import tables_of

SIZE = 999
(AXIS,) = axes_of((SIZE,))


def text_of(each: PolyBlock) -> str:
    """Return the text of a view that has this block only."""
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        kind, attributes = encode_view(PolyView("main", (), (), (), {}))
        with ir.InsertionPoint(module.body):
            view = kind(function=ir.FlatSymbolRefAttr.get("main"), **attributes)
        with ir.InsertionPoint(view.regions[0].blocks.append()):
            kind, values = encode_item(each)
            kind(**values)
            end_body()
        return module.operation.get_asm(assume_verified=True)


def guarded(count: int, size: int) -> PolyBlock:
    """A block whose read has `count` guards, each of one more element."""
    guards = tuple(Guard(AXIS - number - 1, size, 0.0) for number in range(count))
    return block("y", "i", (SIZE,), PolyAccess("x", (AXIS,), guards))


def divided(divisors: range) -> PolyBlock:
    rows = [axes.floordiv_within(AXIS, divisor, (SIZE,)) for divisor in divisors]
    return block("y", "i", (SIZE,), read("x", *rows))


def nested(*divisors: int) -> PolyBlock:
    row = AXIS
    for divisor in divisors:
        row = axes.floordiv_within(row * 2 + 1, divisor, (SIZE,))
    return block("y", "i", (SIZE,), read("x", row))


def strided(step: int) -> PolyBlock:
    return block("y", "i", (SIZE,), read("x", AXIS * step))


#: A block at the limit, one over it, and the counts.
OVER = {
    "guards": (
        guarded(16, SIZE),
        guarded(17, SIZE),
        "pad guards 17 of 16, pieces 18 of 32, floor divisions 0 of 8, their nesting 0 of 3",
    ),
    "pieces": (
        guarded(15, 9),
        guarded(16, 9),
        "pad guards 16 of 16, pieces 33 of 32, floor divisions 0 of 8, their nesting 0 of 3",
    ),
    "divisions": (
        divided(range(2, 10)),
        divided(range(2, 11)),
        "pad guards 0 of 16, pieces 1 of 32, floor divisions 9 of 8, their nesting 1 of 3",
    ),
    "nesting": (
        nested(3, 5, 7),
        nested(3, 5, 7, 11),
        "pad guards 0 of 16, pieces 1 of 32, floor divisions 4 of 8, their nesting 4 of 3",
    ),
    "numbers": (strided(2**62 - 1), strided(2**62), f"greatest number {2**62} of {2**62 - 1}"),
}


@pytest.mark.parametrize("each", [at for at, _, _ in OVER.values()], ids=OVER)
def test_at_the_limit(each):
    module = text.parse(text_of(each))
    (view,) = tables_of(module, ViewOp)
    (op,) = body_of(view)
    assert read_item(op) == each


@pytest.mark.parametrize(("each", "counts"), [(over, counts) for _, over, counts in OVER.values()], ids=OVER)
def test_over_the_limit(each, counts):
    with pytest.raises(text.IrError) as raised:
        text.parse(text_of(each))
    (diagnostic,) = raised.value.diagnostics
    message = f"'y': the access to 'x' is over a limit: {counts} [TC106 ExcessivePiecewise]"
    assert diagnostic.message == f"'poly.block' {message}"
