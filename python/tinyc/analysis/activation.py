"""Activations that Tiny spells as several ops: SiLU, and GELU in its tanh and erf forms.

In: a value. Out: the activation that it is, of which value, and the ops that compute it. Forms are compared as trees
after sums and products are flattened, so that the order of factors and where a constant stands make no difference.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import arguments, vocabulary_name

#: An expression over "x": a leaf, a number, or an op's name with its operands.
Tree: TypeAlias = str | float | tuple["Tree", ...]

#: No form has more ops; what is larger is not an activation.
_MAX_OPS = 12
#: Constants are written in f16 and bf16 too.
_RELATIVE_TOLERANCE = 2**-8

_FORMS: dict[str, tuple[Tree, ...]] = {
    "silu": (("mul", "x", ("recip", ("add", ("exp2", ("mul", "x", -math.log2(math.e))), 1.0))),),
    "gelu": (
        (
            "mul",
            "x",
            0.5,
            (
                "add",
                1.0,
                ("tanh", ("mul", math.sqrt(2 / math.pi), ("add", "x", ("mul", 0.044715, "x", "x", "x")))),
            ),
        ),
        ("mul", "x", 0.5, ("add", 1.0, ("erf", ("mul", "x", math.sqrt(0.5))))),
    ),
}


@dataclass(frozen=True)
class Activation:
    """`name` of the value `operand`, computed by `ops` (casts among them), of which the last gives the result."""

    name: str
    operand: ir.Value
    ops: frozenset[ir.OpView]


def activation_of(value: ir.Value) -> Activation | None:
    """The activation whose result `value` is, if the ops that compute it serve nothing else."""
    root = value.owner
    if not isinstance(root, tiny.MulOp | tiny.FdivOp):
        return None
    for operand in _candidates(root):
        ops: dict[ir.OpView, None] = {}
        tree = _tree(root.output, operand, ops)
        name = None if tree is None else _name(tree)
        if name is not None and _is_private(ops, root):
            return Activation(name, operand, frozenset(ops))
    return None


def _peeled(value: ir.Value, ops: dict[ir.OpView, None] | None = None) -> ir.Value:
    """`value` without the casts around it, which are noted in `ops`."""
    while isinstance(op := value.owner, tiny.CastOp):
        if ops is not None:
            ops[op] = None
        value = op.operand
    return value


def _candidates(root: ir.OpView) -> Iterator[ir.Value]:
    """Yield the values that a form below `root` may be over, nearest first."""
    pending, seen = [root], {root}
    for op in pending:
        for operand in op.operands:
            value = _peeled(operand)
            below = value.owner
            if not isinstance(below, ir.OpView):
                yield value
            elif below not in seen:
                if isinstance(below, tiny.TinyOp):
                    yield value
                if len(seen) < _MAX_OPS:
                    seen.add(below)
                    pending.append(below)


def _tree(value: ir.Value, operand: ir.Value, ops: dict[ir.OpView, None]) -> Tree | None:
    """`value` as an expression over `operand`, or None where it is not one; `ops` gets what computes it."""
    found: dict[ir.OpView, None] = {}
    value = _peeled(value, found)
    if value == operand:
        return "x"
    constant = constant_number(value)
    if constant is not None:
        return constant
    op = value.owner
    if not isinstance(op, tiny.TinyOp) or isinstance(op, tiny.MovementOp) or len(ops) > _MAX_OPS:
        return None
    ops.update(found)
    ops[op] = None
    operands = [tree for each in op.operands if (tree := _tree(each, operand, ops)) is not None]
    if not operands or len(operands) < len(op.operands):
        return None
    if isinstance(op, tiny.FdivOp):
        return ("mul", operands[0], ("recip", operands[1]))
    if isinstance(op, tiny.NegOp):
        return ("mul", -1.0, *operands)
    return (vocabulary_name(op), *operands)


def constant_number(value: ir.Value) -> float | None:
    """The number that all elements of a value are; None where they are not one constant."""
    while isinstance(op := value.owner, tiny.MovementOp) and not isinstance(op, tiny.PadOp):
        value = _peeled(op.operands[0])
    return float(arguments(op)["value"]) if isinstance(op, tiny.ConstOp) and not op.is_stored else None


def _name(tree: Tree) -> str | None:
    shape, constants = _canonical(tree)
    for name, forms in _FORMS.items():
        for expected, numbers in map(_canonical, forms):
            if shape == expected and all(map(_is_close, constants, numbers)):
                return name
    return None


def _is_close(constant: float, number: float) -> bool:
    return math.isclose(constant, number, rel_tol=_RELATIVE_TOLERANCE)


def _canonical(tree: Tree) -> tuple[str, tuple[float, ...]]:
    """The tree without its numbers, sums and products flattened and in a fixed order, and the numbers."""
    if isinstance(tree, str):
        return tree, ()
    if not isinstance(tree, tuple):
        return "c", (tree,)
    name, operands = str(tree[0]), tree[1:]
    if name not in ("add", "mul"):
        parts = [_canonical(operand) for operand in operands]
    else:
        flat = list(_flat(name, operands))
        numbers = [each for each in flat if isinstance(each, float)]
        parts = sorted(_canonical(each) for each in flat if not isinstance(each, float))
        number, neutral = (math.prod(numbers), 1.0) if name == "mul" else (math.fsum(numbers), 0.0)
        if number != neutral:
            parts.append(("c", (number,)))
        if len(parts) == 1:
            return parts[0]
    return f"{name}({','.join(part for part, _ in parts)})", tuple(n for _, constants in parts for n in constants)


def _flat(name: str, operands: tuple[Tree, ...]) -> Iterator[Tree]:
    for operand in operands:
        if isinstance(operand, tuple) and operand[0] == name:
            yield from _flat(name, operand[1:])
        else:
            yield operand


def _is_private(ops: dict[ir.OpView, None], root: ir.OpView) -> bool:
    """Whether nothing but `ops` reads what they compute, `root` aside."""
    return all(use.owner in ops for op in ops if op != root for result in op.results for use in result.uses)
