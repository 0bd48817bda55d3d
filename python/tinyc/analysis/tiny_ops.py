"""Which op makes a value, and of what kind a Tiny op is: the questions that every analysis of IR asks."""

from typing import Any

from tinyc.dialects.tiny.infer import ELEMENTWISE, LEAVES, MOVEMENT, NON_SCOP

_MOVEMENTS = frozenset(f"tiny.{name}" for name in MOVEMENT)
_ELEMENTWISE = frozenset(f"tiny.{name}" for name in ELEMENTWISE)
_LEAVES = frozenset(f"tiny.{name}" for name in LEAVES)
_NON_SCOP = frozenset(f"tiny.{name}" for name in NON_SCOP)


def producer_of(value: Any) -> Any | None:
    """Return the operation that defines `value`, or None for a block argument."""
    return getattr(value.owner, "operation", None)


def is_movement(op: Any) -> bool:
    """Say whether an operation is a Tiny movement."""
    return op.name in _MOVEMENTS


def is_elementwise(op: Any) -> bool:
    """Say whether an operation is an element-wise Tiny op."""
    return op.name in _ELEMENTWISE


def is_leaf(op: Any) -> bool:
    """Say whether an operation is a Tiny op that makes values of nothing."""
    return op.name in _LEAVES


def is_data_dependent(op: Any) -> bool:
    """Say whether an operation is a Tiny op that reads where its data says."""
    return op.name in _NON_SCOP


def data_dependence(op: Any) -> str:
    """Return the reason why an op that reads where its data says is Non-SCoP."""
    return f"'{op.name}' reads where its data says"
