"""Which op defines a value, and of what kind a Tiny op is: the questions that every analysis of IR asks."""

from typing import TypeGuard

from tinyc.dialects.tiny.ops import OPS
from tinyc.mlir import ext, ir
from tinyc.vocabulary.infer import ELEMENTWISE, LEAVES, MOVEMENT, NON_SCOP

_MOVEMENTS = frozenset(OPS[name] for name in MOVEMENT)
_ELEMENTWISE = frozenset(OPS[name] for name in ELEMENTWISE)
_LEAVES = frozenset(OPS[name] for name in LEAVES)
_NON_SCOP = frozenset(OPS[name] for name in NON_SCOP)


def producer_of(value: ir.Value) -> ir.OpView | None:
    """The op that defines a value, or None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner


def vocabulary_name(op: ir.OpView) -> str:
    """The name of a Tiny op in the vocabulary: `permute` for a `tiny.permute`."""
    return op.name.removeprefix("tiny.")


def is_movement(op: ir.OpView) -> TypeGuard[ext.Operation]:
    """Whether an op is a Tiny movement."""
    return type(op) in _MOVEMENTS


def is_elementwise(op: ir.OpView) -> bool:
    """Whether an op is an element-wise Tiny op."""
    return type(op) in _ELEMENTWISE


def is_leaf(op: ir.OpView) -> bool:
    """Whether an op is a Tiny op without operands: a constant, an iota, random numbers."""
    return type(op) in _LEAVES


def is_data_dependent(op: ir.OpView) -> bool:
    """Whether an op is a Tiny op whose indices come from data."""
    return type(op) in _NON_SCOP


def data_dependence(op: ir.OpView) -> str:
    """The reason why an op whose indices come from data is Non-SCoP."""
    return f"'{op.name}' reads where its data says"
