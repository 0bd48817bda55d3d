"""Cumulative reductions: `pad → pool → reduce` recognised as a scan along one axis."""

import math
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.access import Access, trace_affine
from tinyc.analysis.axis import Axis
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import integer_range, is_float


@dataclass(frozen=True)
class Scan:
    """A running reduction of `source` along its axis `axis`.

    Element i takes the source elements up to i, or from i on where `reverse`; without i itself where `exclusive`.
    """

    source: Access
    op: str
    axis: int
    reverse: bool
    exclusive: bool


def detect_scan(reduce: Any) -> Scan | None:
    """Return the scan that a `tiny.reduce` is, or None.

    The reduce must read ``source[…, i + k + c, …]``, i being a kept axis and k the reduced one, both as long as the
    source's axis, all other axes of the source being read as they are; outside stands the neutral element.
    """
    operation = reduce.operation
    values = arguments(operation)
    operand = operation.operands[0]
    access, domain = trace_affine(operand), tensor_type(operand.type).shape
    shape = tensor_type(access.source.type).shape
    if len(values["axes"]) != 1 or len(access.guards) != 1:
        return None
    (summed,), (guard,) = values["axes"], access.guards
    kept = [position for position in range(len(domain)) if position != summed]
    if len(access.map) != len(kept) or guard.expression not in access.map:
        return None
    axis = access.map.index(guard.expression)
    length, offset = domain[summed], guard.expression.constant
    if not isinstance(length, int) or not shape[axis] == length == domain[kept[axis]]:
        return None
    for position, row in enumerate(access.map):
        expected = {kept[position], summed} if position == axis else {kept[position]}
        if {atom.position if isinstance(atom, Axis) else None for atom, _ in row.terms} != expected - _unit(domain):
            return None
        if any(coefficient != 1 for _, coefficient in row.terms) or (position != axis and row.constant != 0):
            return None
    forms = {1 - length: (False, False), 0: (True, False), -length: (False, True), 1: (True, True)}
    if offset not in forms or not _is_neutral(guard.value, values["op"], tensor_type(operand.type).element):
        return None
    return Scan(access, values["op"], axis, *forms[offset])


def _unit(domain: Any) -> set[int]:
    return {position for position, extent in enumerate(domain) if extent == 1}


def _is_neutral(value: bool | int | float, op: str, element: str) -> bool:
    if op in ("sum", "prod"):
        return value == (op == "prod")
    if not is_float(element):
        return value == integer_range(element)[op == "min"]
    return value == (math.inf if op == "min" else -math.inf)
