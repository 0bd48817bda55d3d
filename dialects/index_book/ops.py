"""The `index_book` dialect: the table of a function, an entry for each value, and the values without a map."""

from typing import Any

from tinyc.dialects.index_book.decode import decode_entry, decode_non_scop
from tinyc.mlir import ext, ir
from tinyc.mlir.side_table import check_table
from tinyc.mlir.verifying import report_op


class IndexBookDialect(ext.Dialect, name="index_book"):
    """Axes, domains and access maps of the values of a Tiny function, beside it."""


class TableOp(IndexBookDialect.Operation, name="table"):
    """The entries of the function named `function`, one for each of its values, in order of definition."""

    function: Any
    body: ext.Region

    def verify_invariants(self) -> bool:
        """Check that the table holds entries only."""
        return report_op(self, lambda op: check_table(op, (EntryOp, NonScopOp)))


class EntryOp(IndexBookDialect.Operation, name="entry"):
    """One value.

    `sizes`, `kinds` (`iter`, `broadcast`, `reduce`) and `labels` have one item for each axis; the axes that a reduce
    removes come last, and `reduce_axes` are their positions among the operand's. `dims` has one item for each dimension
    of the value: how many axes it is split into. `domain` and `maps` are over the axes, with the extents in `symbols`
    as symbols. Where the set `guards[k]` is left, the value is `guard_values[k]`, first guard first, and no input is
    read.
    """

    value: ir.StringAttr
    sizes: ir.ArrayAttr
    dims: Any
    kinds: ir.ArrayAttr
    labels: ir.ArrayAttr
    symbols: ir.ArrayAttr
    domain: Any
    inputs: ir.ArrayAttr
    maps: ir.ArrayAttr
    guards: ir.ArrayAttr
    guard_values: ir.ArrayAttr
    reduce_axes: Any

    def verify_invariants(self) -> bool:
        """Check that the attributes can be read as an entry."""
        return report_op(self, lambda op: decode_entry(op.attributes))


class NonScopOp(IndexBookDialect.Operation, name="non_scop"):
    """A value that reads its inputs by no quasi-affine map, and why; with its axes, by `sizes` and `dims`."""

    value: ir.StringAttr
    sizes: ir.ArrayAttr
    dims: Any
    inputs: ir.ArrayAttr
    reason: ir.StringAttr

    def verify_invariants(self) -> bool:
        """Check that the attributes can be read."""
        return report_op(self, lambda op: decode_non_scop(op.attributes))
