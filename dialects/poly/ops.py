"""The `poly` dialect: the view of a function, its blocks, its Non-SCoP tensors, the edges between blocks."""

from typing import Any

from tinyc.dialects.tiny.op_verifier import report
from tinyc.mlir import ext, ir


class Poly(ext.Dialect, name="poly"):
    """Statements with isl domains, accesses and dependences, beside the function that they come from."""


class _PolyOp(Poly.Operation):
    """What the ops share: the verifier."""

    def verify_invariants(self: Any) -> bool:
        """Check the declared fields and their kinds; report a violation at the op."""
        from tinyc.dialects.poly.verify import check_op

        return report(self, check_op)


class ViewOp(_PolyOp, name="view"):
    """The blocks and Non-SCoP tensors of the function named `function`, in program order, then the edges.

    `elements` has the element types of the tensors that no block makes; `outputs` are the tensors that the function
    returns, in that order.
    """

    elements: Any
    function: Any
    outputs: ir.ArrayAttr
    body: ext.Region


class BlockOp(_PolyOp, name="block"):
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

    name: ir.StringAttr
    kind: ir.StringAttr
    domain: ir.StringAttr
    write: ir.StringAttr
    accesses: ir.ArrayAttr
    attrs: Any


class NonScopOp(_PolyOp, name="non_scop"):
    """A tensor that no quasi-affine statement computes, and why; `reads` are the tensors that it needs as wholes."""

    name: ir.StringAttr
    reason: ir.StringAttr
    reads: ir.ArrayAttr


class EdgeOp(_PolyOp, name="edge"):
    """Dependences of the block `target` on the block `source`, instance to instance.

    `true` has one map for each access of the target that reads the source. Values are written once: `anti` and `output`
    are empty but between blocks of one `buffer`. Maps hold within the domains of the two blocks.
    """

    source: ir.StringAttr
    target: ir.StringAttr
    true: ir.ArrayAttr
    anti: ir.ArrayAttr
    output: ir.ArrayAttr
