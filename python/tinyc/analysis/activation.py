"""Activations that Tiny spells as several ops: SiLU, and GELU in its tanh and erf forms.

In: a value. Out: the activation that it is, of which value, and the ops that compute it. Forms are compared as trees
after sums and products are flattened, so that the order of factors and where a constant stands make no difference.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.tiny_ops import is_movement, producer_of
from tinyc.dialects.tiny.attributes import arguments

#: An expression over "x": a leaf, a number, or an op's name with its operands.
Tree = str | float | tuple[Any, ...]

#: No form has more ops; what is larger is no activation.
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
    operand: Any
    ops: frozenset[Any]


def activation_of(value: Any) -> Activation | None:
    """Return the activation whose result `value` is, if the ops that compute it serve nothing else."""
    root = producer_of(value)
    if root is None or root.name not in ("tiny.mul", "tiny.fdiv"):
        return None
    for operand in _candidates(root):
        ops: dict[Any, None] = {}
        tree = _tree(root.results[0], operand, ops)
        name = None if tree is None else _name(tree)
        if name is not None and _is_private(ops, root):
            return Activation(name, operand, frozenset(ops))
    return None


def _peeled(value: Any, ops: dict[Any, None] | None = None) -> Any:
    """Return what `value` is below casts, which are noted in `ops`."""
    while (op := producer_of(value)) is not None and op.name == "tiny.cast":
        if ops is not None:
            ops[op] = None
        value = op.operands[0]
    return value


def _candidates(root: Any) -> Iterator[Any]:
    """Yield the values that a form below `root` may be over, nearest first."""
    pending, seen = [root], {root}
    for op in pending:
        for operand in op.operands:
            value = _peeled(operand)
            below = producer_of(value)
            if below is None or (below.name.startswith("tiny.") and below not in seen):
                yield value
            if below is not None and below not in seen and len(seen) < _MAX_OPS:
                seen.add(below)
                pending.append(below)


def _tree(value: Any, operand: Any, ops: dict[Any, None]) -> Tree | None:
    """Return `value` as an expression over `operand`, or None where it is none; `ops` gets what computes it."""
    found: dict[Any, None] = {}
    value = _peeled(value, found)
    if value == operand:
        return "x"
    constant = _constant(value)
    if constant is not None:
        return constant
    op = producer_of(value)
    if op is None or not op.name.startswith("tiny.") or is_movement(op) or len(ops) > _MAX_OPS:
        return None
    ops.update(found)
    ops[op] = None
    operands = [_tree(each, operand, ops) for each in op.operands]
    if not operands or any(each is None for each in operands):
        return None
    name = op.name.removeprefix("tiny.")
    if name == "fdiv":
        return ("mul", operands[0], ("recip", operands[1]))
    return ("mul", -1.0, *operands) if name == "neg" else (name, *operands)


def _constant(value: Any) -> float | None:
    op = producer_of(value)
    while op is not None and is_movement(op) and op.name != "tiny.pad":
        value = _peeled(op.operands[0])
        op = producer_of(value)
    return float(arguments(op)["value"]) if op is not None and op.name == "tiny.const" else None


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
    """Return the tree without its numbers, sums and products flattened and in a fixed order, and the numbers."""
    if isinstance(tree, str):
        return tree, ()
    if not isinstance(tree, tuple):
        return "c", (tree,)
    name, operands = tree[0], tree[1:]
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


def _is_private(ops: dict[Any, None], root: Any) -> bool:
    """Say whether nothing but `ops` reads what they compute, `root` aside."""
    return all(use.owner.operation in ops for op in ops if op != root for result in op.results for use in result.uses)
