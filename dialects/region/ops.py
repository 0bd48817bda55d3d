"""The `region` dialect: one `region.kernel` is one kernel; memory exists only at its boundary.

"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4x3xf32>, [3, 1], 64, true>, %y: !region.memref<tensor<3x4xf32>, [4, 1], 64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4x3xf32>, [3, 1], 64, true>) -> tensor<4x3xf32>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<3x4xf32>, !region.memref<…>) -> ()
  omp.terminator
}) {sym_name = "transpose"} : () -> ()
"""

from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.arena import ALIGNMENT_BYTES
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import decode, extents_attribute, tensor_type, to_type
from tinyc.dialects.tiny.ops import Pure
from tinyc.dialects.tiny.types import TensorType
from tinyc.mlir import ext, ir


class RegionDialect(ext.Dialect, name="region"):
    """Kernels over value-semantic Tiny ops, with buffers at their boundary only."""


class MemRefType(RegionDialect.Type, name="memref"):
    """A buffer: the tensor that it holds, strides in elements, alignment in bytes, and whether nothing aliases it."""

    tensor: Any
    strides: ir.ArrayAttr
    alignment: ir.IntegerAttr
    noalias: Any


def memref_type(tensor: TensorType) -> Any:
    """Return the type of a dense, aligned buffer that nothing aliases, holding `tensor`."""
    i64 = ir.IntegerType.get_signless(64)
    return MemRefType.get(
        to_type(tensor),
        extents_attribute(extents.row_major_strides(tensor.shape)),
        ir.IntegerAttr.get(i64, ALIGNMENT_BYTES),
        ir.BoolAttr.get(True),
    )


def held_tensor(mlir_type: Any) -> TensorType:
    """Return the tensor that a `!region.memref` holds.

    Raises:
        TinycError: the type is no buffer, or not dense row-major.
    """
    if not isinstance(mlir_type, MemRefType):
        raise TinycError("InvalidAttribute", f"{mlir_type} is not a !region.memref")
    tensor, strides, alignment, noalias = (parameter.maybe_downcast() for parameter in mlir_type.params)
    kinds = (ir.TypeAttr, ir.ArrayAttr, ir.IntegerAttr, ir.BoolAttr)
    if not all(isinstance(p, kind) for p, kind in zip((tensor, strides, alignment, noalias), kinds, strict=True)):
        raise TinycError(
            "InvalidAttribute", f"{mlir_type} must be !region.memref<tensor, [strides], alignment, noalias>"
        )
    held = tensor_type(tensor.value)
    expected = extents.row_major_strides(held.shape)
    if decode(strides) != expected:
        raise TinycError(
            "InvalidAttribute", f"{mlir_type} is not dense row-major; its strides must be {extents_attribute(expected)}"
        )
    if alignment.value <= 0 or alignment.value & (alignment.value - 1):
        raise TinycError("InvalidAttribute", f"{mlir_type}: alignment {alignment.value} is not a power of two")
    return held


class KernelOp(RegionDialect.Operation, name="kernel"):
    """One kernel: block arguments are the inputs' and then the outputs' buffers; ends in one yield for each output."""

    sym_name: ir.StringAttr
    body: ext.Region

    def verify_invariants(self: Any) -> bool:
        """Check the block, the arguments and the yields; report at the op."""
        from tinyc.dialects.region.verify import report_kernel

        return report_kernel(self)


class ReadOp(RegionDialect.Operation, name="read", traits=[Pure]):
    """The value that a buffer holds when the kernel starts."""

    buffer: ext.Operand[Any]
    output: ext.Result[Any]

    def verify_invariants(self: Any) -> bool:
        """Check that the result is the tensor that the buffer holds."""
        from tinyc.dialects.region.verify import report_read

        return report_read(self)


class YieldOp(RegionDialect.Operation, name="yield"):
    """Write a value to an output's buffer.

    `materialize` is "gmem", or "deferred" for an output that is elided, which only fusion may do. There is one yield
    for each output, last in the body (an op defined through IRDL cannot have operands of mixed types in one list).
    """

    value: ext.Operand[Any]
    buffer: ext.Operand[Any]
    materialize: ir.StringAttr

    def verify_invariants(self: Any) -> bool:
        """Check that the value has the type of the output's tensor."""
        from tinyc.dialects.region.verify import report_yield

        return report_yield(self)


class LaunchOp(RegionDialect.Operation, name="launch", traits=[Pure]):
    """In the host function: a kernel as a function of tensors, which `func.call_indirect` applies.

    The function type has the kernel's inputs and outputs; the results of the call are fresh tensors.
    """

    kernel: Any
    function: ext.Result[Any]
