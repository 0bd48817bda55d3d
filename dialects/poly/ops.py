"""The `poly` dialect: the view of a function, its blocks, its Non-SCoP tensors, the edges between blocks."""

from typing import Any

from tinyc.dialects.poly.decode import texts_of
from tinyc.dialects.poly.op_verifier import check_block, check_elements, check_kinds
from tinyc.mlir import ext, ir
from tinyc.mlir.side_table import check_table
from tinyc.mlir.verifying import report_op


class Poly(ext.Dialect, name="poly"):
    """Statements with isl domains, accesses and dependences, beside the function that they come from."""


class ViewOp(Poly.Operation, name="view"):
    """The blocks and Non-SCoP tensors of the function named `function`, in program order, then the edges.

    `elements` has the element types of the tensors that no block makes; `outputs` are the tensors that the function
    returns, in that order. `constants` are the tensors of the program itself, in program order; it may be left out.
    """

    elements: Any
    function: Any
    outputs: ir.ArrayAttr
    body: ext.Region
    optional_attributes = ("constants",)

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the tensor constants.

        Raises:
            TinycError: `InvalidAttribute`.
        """
        return texts_of(self.attributes, "constants") if "constants" in self.attributes else ()

    def verify_invariants(self) -> bool:
        """Check that the view lists blocks, tensors and edges, and the kinds of its attributes."""
        return report_op(self, check_view)


class BlockOp(Poly.Operation, name="block"):
    """A statement `name`, which writes the tensor of that name.

    `kind` is `ewise`, `reduce`, `movement_affine`, `contraction_pattern` or `scan`. `domain` is the box of the axes
    with a guard ``0 <= e - d*floor(e/d) < d`` for each floor division in the other texts. `write` maps an instance to
    the element that it writes, each of `accesses` to one that it reads. `attrs` has the tensor's `element` type; the
    `op` of an element-wise block or a reduction; of a contraction `lhs_idx`, `rhs_idx`, `out_idx`, `reduce_idx`,
    `batch_idx` (names of axes), `pattern` (`matmul` or `conv`), `form` and `affine_offsets` (its windows); of a scan
    `axis`, `reverse`, `exclusive`; why a reduction is of no earlier pattern (`rejected`); and `pads`: the value that an
    access gives outside the set `inside`, of several the first that is left. `materialized` says why what reads a
    movement does not read through it, `buffer` in which memory the tensor lies with others, `parameters` the extents of
    parameters that are not called like them.
    """

    name: ir.StringAttr  # pyright: ignore[reportIncompatibleMethodOverride] - a field hides the op's own name
    kind: ir.StringAttr
    domain: ir.StringAttr
    write: ir.StringAttr
    accesses: ir.ArrayAttr
    attrs: Any

    def verify_invariants(self) -> bool:
        """Check that the attributes can be read as a block."""
        return report_op(self, lambda op: check_block(op.attributes))


class NonScopOp(Poly.Operation, name="non_scop"):
    """A tensor that no quasi-affine statement computes, and why; `reads` are the tensors that it needs as wholes."""

    name: ir.StringAttr  # pyright: ignore[reportIncompatibleMethodOverride] - a field hides the op's own name
    reason: ir.StringAttr
    reads: ir.ArrayAttr

    def verify_invariants(self) -> bool:
        """Check the kinds of the attributes."""
        return report_op(self, lambda op: check_kinds(op.attributes))


class EdgeOp(Poly.Operation, name="edge"):
    """Dependences of the block `target` on the block `source`, instance to instance.

    `true` has one map for each access of the target that reads the source. Values are written once: `anti` and `output`
    are empty but between blocks of one `buffer`. Maps hold within the domains of the two blocks.
    """

    source: ir.StringAttr
    target: ir.StringAttr
    true: ir.ArrayAttr
    anti: ir.ArrayAttr
    output: ir.ArrayAttr

    def verify_invariants(self) -> bool:
        """Check the kinds of the attributes."""
        return report_op(self, lambda op: check_kinds(op.attributes))


def check_view(view: ir.OpView) -> None:
    """Check a view by itself.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    check_table(view, (BlockOp, NonScopOp, EdgeOp))
    check_elements(view.attributes)
    if "constants" in view.attributes:
        texts_of(view.attributes, "constants")
    check_kinds(view.attributes)
