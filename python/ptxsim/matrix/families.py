"""Which element types of matrix instructions go together, and what results they can have.

Source: PTX ISA §9.7.14.5.14 (mma), §9.7.15.5.2 (wgmma).
"""

from dataclasses import dataclass

from ptxsim.matrix.modifiers import MatrixModifiers, MatrixShape


@dataclass(frozen=True)
class Family:
    """Types that A and B may have together, the accumulators, the shapes of `mma`, and the k of `wgmma` (0: none)."""

    multiplicands: tuple[str, ...]
    accumulators: tuple[str, ...]
    mma_shapes: tuple[MatrixShape, ...]
    wgmma_k: int


FAMILIES = (
    Family(("f16",), ("f16", "f32"), (MatrixShape(16, 8, 8), MatrixShape(16, 8, 16)), 16),
    Family(("bf16",), ("f32",), (MatrixShape(16, 8, 8), MatrixShape(16, 8, 16)), 16),
    Family(("tf32",), ("f32",), (MatrixShape(16, 8, 4), MatrixShape(16, 8, 8)), 8),
    Family(("e4m3", "e5m2"), ("f16", "f32"), (MatrixShape(16, 8, 16), MatrixShape(16, 8, 32)), 32),
    Family(("s8", "u8"), ("s32",), (MatrixShape(8, 8, 16), MatrixShape(16, 8, 16), MatrixShape(16, 8, 32)), 32),
    Family(
        ("f64",),
        ("f64",),
        (MatrixShape(8, 8, 4), MatrixShape(16, 8, 4), MatrixShape(16, 8, 8), MatrixShape(16, 8, 16)),
        0,
    ),
)
_TYPES = {name for family in FAMILIES for name in (*family.multiplicands, *family.accumulators)}


@dataclass(frozen=True)
class Types:
    """The types of D, A and B; C has that of D."""

    result: str
    a: str
    b: str


def take_types(modifiers: MatrixModifiers, with_c: bool) -> tuple[Types, Family]:
    """Take the types of D, A, B and, `with_c`, C, in this order.

    Raises:
        UnknownInstruction: they do not go together.
    """
    names = modifiers.ordered(_TYPES)
    if len(names) != 3 + with_c:
        modifiers.refuse(f"needs the types of D, A, B{' and C' if with_c else ''}, of those that the simulator models")
    types = Types(*names[:3])
    family = next((family for family in FAMILIES if types.a in family.multiplicands), None)
    if family is None or types.b not in family.multiplicands:
        modifiers.refuse(f"A cannot be .{types.a} where B is .{types.b}")
    if types.result not in family.accumulators:
        modifiers.refuse(f"D cannot be .{types.result} where A is .{types.a}")
    if with_c and names[3] != types.result:
        modifiers.refuse(f"C is .{names[3]} where D is .{types.result}; they must be of one type")
    return types, family
