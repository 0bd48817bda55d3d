"""What the executors ask of a value in the IR: what the user calls it, and whether it exists outside a sum."""

from typing import Any

from tinyc.mlir import ir


def value_name(result: Any) -> str | None:
    """Return what the user calls an op's result: the node id, with `#1` for a second result; None if it has no name."""
    operation = result.owner.operation
    if not isinstance(operation.location, ir.NameLoc):
        return None
    name = operation.location.name_str
    return f"{name}#{result.result_number}" if result.result_number else name


def summed_products(needed: list[Any]) -> set[Any]:
    """Return the results of `mul` whose only use, among the needed ops, is a `sum`: it forms them in its own type."""
    readers: dict[Any, list[Any]] = {}
    for op in needed:
        for operand in op.operation.operands:
            readers.setdefault(operand, []).append(op.operation)
    return {value for value, ops in readers.items() if _is_product(value) and len(ops) == 1 and _is_sum(ops[0])}


def _is_product(value: Any) -> bool:
    return isinstance(value, ir.OpResult) and value.owner.name == "tiny.mul"


def _is_sum(operation: Any) -> bool:
    return operation.name == "tiny.reduce" and operation.attributes["op"].value == "sum"
