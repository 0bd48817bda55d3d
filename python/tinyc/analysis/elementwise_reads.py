"""What an element of a value is computed from, where movements and element-wise ops alone are in between.

In: a value, which stays as it is. Out: for each tensor below it the access by which it is read (`elementwise_reads`),
or all the indices on the way to these (`element_indices`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tinyc.analysis.access import Access, extend
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import Axis, AxisExpr, plain_axis
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


def elementwise_reads(value: ir.Value) -> dict[ir.Value, Access]:
    """How an element of `value` reads the tensors that it is computed from by movements and element-wise ops.

    These are what is read, and arguments of blocks, in the order of operands. There are none where another op is below,
    or where a tensor is read at two places for one element.
    """
    found: dict[ir.Value, Access] = {}
    for access, op in _accesses(value):
        is_read = _is_read(op)
        if not is_read and not isinstance(op, tiny.ElementwiseOp | tiny.ConstOp):
            return {}
        if is_read and found.setdefault(access.source, access) != access:
            return {}
    return found


@dataclass(frozen=True)
class ElementIndices:
    """The `indices` at which an element of a value is read from memory, with all guards on the way to it.

    The indices of element-wise ops on the `way` are those of their results. There are `guards` or there are none.
    """

    indices: tuple[AxisExpr, ...]
    way: tuple[AxisExpr, ...]
    has_guards: bool

    def strides(self, column: int, product: int) -> frozenset[tuple[int, int]]:
        """How far the reads that move along two dimensions do so, with each of them; empty if one is not along both.

        Element-wise ops on the way are computed beyond the extents, too, at an index that no merged axes wrap around.
        """
        found = set[tuple[int, int]]()
        for read in (*self.indices, *(each for each in self.way if plain_axis(each) not in (column, product))):
            if any(
                not isinstance(atom, Axis) and {column, product} & atom.numerator.positions for atom, _ in read.terms
            ):
                return frozenset()
            along = dict(read.terms)
            pair = along.get(Axis(column), 0), along.get(Axis(product), 0)
            if pair == (0, 0):
                continue
            if min(pair) < 1:
                return frozenset()
            found.add(pair)
        return frozenset(found)

    @property
    def dimensions(self) -> frozenset[int]:
        """The dimensions along which there are several elements in memory, or on the way to it."""
        return frozenset[int]().union(*(axes.positions(each) for each in (*self.indices, *self.way)))


def element_indices(value: ir.Value) -> ElementIndices | None:
    """The indices at which an element of `value` is read; None where another op is below than movements do with."""
    indices, way, has_guards = list[AxisExpr](), list[AxisExpr](), False
    for access, op in _accesses(value):
        indices += [guard.expression for guard in access.guards]
        has_guards = has_guards or bool(access.guards)
        if isinstance(op, tiny.ElementwiseOp):
            way += access.map
        elif _is_read(op):
            indices += access.map
        elif not isinstance(op, tiny.ConstOp):
            return None
    return ElementIndices(tuple(indices), tuple(way), has_guards)


def _accesses(value: ir.Value) -> Iterator[tuple[Access, ir.OpView | None]]:
    """Yield the accesses below `value`, each once, and the op whose result is read, which may be no affine movement."""
    domain = tensor_type(value.type).shape
    pending, seen = [Access(value, axes.identity(domain))], set[Access]()
    while pending:
        access, _ = extend(pending.pop(0), domain)
        if access in seen:
            continue
        seen.add(access)
        op = producer_of(access.source)
        if isinstance(op, tiny.ElementwiseOp):
            pending[:0] = [Access(each, access.map, access.guards) for each in op.operands]
        yield access, op


def _is_read(op: ir.OpView | None) -> bool:
    """Whether what is read lies in memory, or is an argument of a block."""
    return op is None or isinstance(op, region.ReadOp)
