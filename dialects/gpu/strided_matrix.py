"""A matrix in a buffer at regular distances, as the attributes of a statement say it.

`offset`, and for each side, `rows`, `columns` and `batches`, the runs of its axes, the slowest first, as pairs of
extent and stride: `rows = [["M", "K"]], columns = [["K", 1]], batches = [], offset = [0]` is a row-major matrix of M
rows. The numbers of elements and strides are extents. A side whose extent is 1 has no run.
"""

from dataclasses import dataclass

from tinyc.analysis.strided_access import AxisRun, Side, StridedAccess
from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import decode, extents_attribute

#: The sides of a matrix, by the statement's attributes.
MATRIX_SIDES = ("rows", "columns", "batches")


@dataclass(frozen=True)
class StridedMatrix:
    """Where the elements are: in elements of the buffer, from its start on."""

    offset: Dim
    rows: Side
    columns: Side
    batches: Side

    @classmethod
    def of_access(cls, access: StridedAccess) -> "StridedMatrix":
        """The matrix that an analysis has found."""
        return cls(access.offset, access.rows, access.columns, access.batch)

    @classmethod
    def of(cls, op: ir.OpView) -> "StridedMatrix":
        """The matrix that a statement has.

        Raises:
            Malformed: an attribute has no meaning.
        """
        (offset,) = _extents(op, "offset")
        sides = [tuple(_run(op, side, each) for each in ir.ArrayAttr(op.attributes[side])) for side in MATRIX_SIDES]
        return cls(offset, *sides)

    def attributes(self) -> dict[str, ir.Attribute]:
        """The attributes that say it."""
        sides = zip(MATRIX_SIDES, (self.rows, self.columns, self.batches), strict=True)
        runs = {
            side: ir.ArrayAttr.get([extents_attribute((run.extent, run.stride)) for run in found])
            for side, found in sides
        }
        return {"offset": extents_attribute((self.offset,)), **runs}

    def side(self, name: str) -> Side:
        """The runs of a side."""
        return {"rows": self.rows, "columns": self.columns, "batches": self.batches}[name]

    def extent(self, name: str) -> Dim:
        """How many elements a side has."""
        return extents.product(run.extent for run in self.side(name))

    def is_whole(self, name: str, width: int) -> bool:
        """Whether a side that is copied `width` neighbours at a time is so many of them.

        Strides are, as copies begin there; and so a side that is as long as one, as in a matrix without gaps.
        """
        extent = self.extent(name)
        return extents.divide(extent, width) is not None or any(
            run.stride == extent for each in MATRIX_SIDES if each != name for run in self.side(each)
        )

    @property
    def dims(self) -> list[Dim]:
        """All numbers in it."""
        return [
            self.offset,
            *(dim for name in MATRIX_SIDES for run in self.side(name) for dim in (run.extent, run.stride)),
        ]


def _run(op: ir.OpView, side: str, entry: ir.Attribute) -> AxisRun:
    values = _decoded(side, entry)
    if len(values) != 2:
        raise Malformed(f'has the run {entry} of {side}; it must be an extent and a stride, ["M", 1]')
    return AxisRun(*values)


def _extents(op: ir.OpView, name: str) -> tuple[Dim, ...]:
    values = _decoded(name, op.attributes[name])
    if len(values) != 1:
        raise Malformed(f"has {name} = {op.attributes[name]}; it must be one extent, [0]")
    return values


def _decoded(name: str, attribute: ir.Attribute) -> tuple[Dim, ...]:
    if not isinstance(attribute, ir.ArrayAttr):
        raise Malformed(f"has {name} = {attribute}; it must be a list of extents")
    try:
        values: tuple[Dim, ...] = decode(attribute)
    except TinycError as error:
        raise Malformed(f"has {name} = {attribute}: {error.message}") from None
    return tuple(values)
