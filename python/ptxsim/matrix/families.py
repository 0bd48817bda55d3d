"""Which element types of matrix instructions go together, and what results they can have.

Source: PTX ISA §9.7.14.4 (wmma), §9.7.14.5.14 (mma), §9.7.15.5.2 (wgmma).
"""

from collections.abc import Collection
from dataclasses import dataclass

from ptxsim.matrix.modifiers import MatrixModifiers, MatrixShape


@dataclass(frozen=True)
class Family:
    """Types that A and B may have together, the accumulators, the shapes of `mma` and `wmma`, the k of `wgmma`.

    A k of 0 is none.
    """

    multiplicands: tuple[str, ...]
    accumulators: tuple[str, ...]
    mma_shapes: tuple[MatrixShape, ...]
    wmma_shapes: tuple[MatrixShape, ...]
    wgmma_k: int


_WMMA_K16 = (MatrixShape(16, 16, 16), MatrixShape(8, 32, 16), MatrixShape(32, 8, 16))


FAMILIES = (
    Family(("f16",), ("f16", "f32"), (MatrixShape(16, 8, 8), MatrixShape(16, 8, 16)), _WMMA_K16, 16),
    Family(("bf16",), ("f32",), (MatrixShape(16, 8, 8), MatrixShape(16, 8, 16)), _WMMA_K16, 16),
    Family(("tf32",), ("f32",), (MatrixShape(16, 8, 4), MatrixShape(16, 8, 8)), (MatrixShape(16, 16, 8),), 8),
    Family(("e4m3", "e5m2"), ("f16", "f32"), (MatrixShape(16, 8, 16), MatrixShape(16, 8, 32)), (), 32),
    Family(
        ("s8", "u8"),
        ("s32",),
        (MatrixShape(8, 8, 16), MatrixShape(16, 8, 16), MatrixShape(16, 8, 32)),
        _WMMA_K16,
        32,
    ),
    Family(("s4", "u4"), ("s32",), (), (MatrixShape(8, 8, 32),), 0),
    Family(("b1",), ("s32",), (), (MatrixShape(8, 8, 128),), 0),
    Family(
        ("f64",),
        ("f64",),
        (MatrixShape(8, 8, 4), MatrixShape(16, 8, 4), MatrixShape(16, 8, 8), MatrixShape(16, 8, 16)),
        (MatrixShape(8, 8, 4),),
        0,
    ),
)
_TYPES = {name for family in FAMILIES for name in (*family.multiplicands, *family.accumulators)}


@dataclass(frozen=True)
class Types:
    """The types of D, A, B and C."""

    result: str
    a: str
    b: str
    c: str


def take_types(modifiers: MatrixModifiers, with_c: bool) -> tuple[Types, Family]:
    """Take the types of D, A, B and, `with_c`, C, in this order; C has that of D.

    Raises:
        UnknownInstruction: they do not go together.
    """
    names = modifiers.ordered(_TYPES)
    if len(names) != 3 + with_c:
        modifiers.refuse(f"needs the types of D, A, B{' and C' if with_c else ''}, of those that the simulator models")
    result, a, b, c = (*names, names[0])[:4]
    family = _family(modifiers, Types(result, a, b, c))
    if c != result:
        modifiers.refuse(f"C is .{c} where D is .{result}; they must be of one type")
    return Types(result, a, b, c), family


def take_wmma_types(modifiers: MatrixModifiers) -> tuple[Types, Family]:
    """Take the types of a `wmma.mma`: of D, A, B and C, or of D and C, where A and B are f16.

    Raises:
        UnknownInstruction: they do not go together.
    """
    names = modifiers.ordered(_TYPES)
    if len(names) not in (2, 4):
        modifiers.refuse("needs the types of D, A, B and C, or of D and C where A and B are .f16")
    types = Types(*names) if len(names) == 4 else Types(names[0], "f16", "f16", names[1])
    family = _family(modifiers, types)
    if types.c not in family.accumulators:
        modifiers.refuse(f"C cannot be .{types.c} where A is .{types.a}")
    if types.a != types.b or (len(names) == 4) == (types.a == "f16"):
        modifiers.refuse("A and B are of one type, which is written twice, or .f16 and not written")
    return types, family


def _family(modifiers: MatrixModifiers, types: Types) -> Family:
    """The family of A and B, which D goes with."""
    family = next((family for family in FAMILIES if types.a in family.multiplicands), None)
    if family is None or types.b not in family.multiplicands:
        modifiers.refuse(f"A cannot be .{types.a} where B is .{types.b}")
    if types.result not in family.accumulators:
        modifiers.refuse(f"D cannot be .{types.result} where A is .{types.a}")
    return family


def require_shape(modifiers: MatrixModifiers, shape: MatrixShape, element: str, known: Collection[MatrixShape]) -> None:
    """Refuse a shape that is not among those known for an element type."""
    if shape not in known:
        names = ", ".join(f".{each}" for each in known) or "none"
        modifiers.refuse(f".{element} has no shape .{shape} that the simulator models; it has {names}")
