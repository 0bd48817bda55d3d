"""Cumulative reductions: `pad → pool → reduce` recognised as a scan along one axis."""

import math
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.access import Access, trace_affine
from tinyc.analysis.extents import Dim
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
    values, operand = arguments(operation), operation.operands[0]
    access, domain = trace_affine(operand), tensor_type(operand.type).shape
    if len(values["axes"]) != 1 or len(access.guards) != 1 or len(access.map) != len(domain) - 1:
        return None
    (summed,), (guard,) = values["axes"], access.guards
    kept = [position for position in range(len(domain)) if position != summed]
    window = axes.axis(summed, domain)
    found = [axis for axis, row in enumerate(access.map) if row == guard.expression]
    if len(found) != 1 or domain[summed] == 1:
        return None
    (axis,) = found
    plain = [axes.axis(position, domain) for position in kept]
    offset = access.map[axis] - plain[axis] - window
    if offset.terms or any(row != plain[k] for k, row in enumerate(access.map) if k != axis):
        return None
    length = domain[summed]
    if not isinstance(length, int) or not tensor_type(access.source.type).shape[axis] == length == domain[kept[axis]]:
        return None
    forms: dict[Dim, tuple[bool, bool]] = {1 - length: (False, False), 0: (True, False)}
    forms |= {-length: (False, True), 1: (True, True)}
    form = forms.get(offset.constant)
    if form is None or not _is_neutral(guard.value, values["op"], tensor_type(operand.type).element):
        return None
    return Scan(access, values["op"], axis, *form)


def _is_neutral(value: bool | int | float, op: str, element: str) -> bool:
    if op in ("sum", "prod"):
        return value == (op == "prod")
    if not is_float(element):
        least, greatest = integer_range(element)
        return value == (greatest if op == "min" else least)
    return value == (math.inf if op == "min" else -math.inf)
