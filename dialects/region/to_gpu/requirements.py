"""What a region must be to become a GPU kernel, and the host program beside it."""

from tinyc.analysis.access import NonScop, trace
from tinyc.analysis.graphs import is_tensor
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec import ops as exec_
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.verify import require_materialized
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import where
from tinyc.target.target import Target

_PARAMETER_BYTES_EACH = 8  # a pointer, or an extent


def require_kernel(kernel: Kernel) -> None:
    """Check that a region can be a GPU kernel.

    Raises:
        TinycError: `InvalidAttribute`: an output has no memory; `NoGpuKernel`.
    """
    require_materialized(kernel)
    if region.PANELS in kernel.op.attributes:
        message = (
            "buffers of the kernel are in panels, which CPU kernels read; run --region-to-gpu without packing weights"
        )
        raise TinycError("NoGpuKernel", message, where(kernel.location))
    for op in kernel.body:
        if isinstance(op, tiny.MovementOp):
            continue
        for operand in op.operands:
            access = trace(operand) if is_tensor(operand.type) else None
            if isinstance(access, NonScop):
                raise TinycError(
                    "NoGpuKernel",
                    f"'{access.op.name}' has no access map: {access.reason}; read its result from a buffer",
                    where(access.op.location),
                )


def require_few_parameters(kernel: Kernel, target: Target) -> None:
    """Check that the parameters of a kernel fit.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    buffers, symbols = len(kernel.buffers), len(kernel.symbols)
    size = (buffers + kernel.is_checked + symbols) * _PARAMETER_BYTES_EACH
    if size > target.kernel_parameter_bytes:
        raise TinycError(
            "NoGpuKernel",
            f"the kernel takes {buffers} buffers and {symbols} symbols, {size} bytes of parameters; a GPU kernel has "
            f"{target.kernel_parameter_bytes}: split the region",
            where(kernel.location),
        )


def require_host(module: ir.Module) -> None:
    """Check that what stands beside the kernels is as the pass needs it.

    Raises:
        TinycError: `InvalidIr`: the host program is lowered already, or other GPU kernels are in the module.
    """
    for op in module.body.operations:
        if isinstance(op, exec_.FunctionOp):
            message = "the host program is lowered already; run --region-to-gpu before --region-to-exec"
            raise TinycError("InvalidIr", message, where(op.location))
        if isinstance(op, gpu.GPUModuleOp):
            message = "the module has GPU kernels already, and regions beside them; lower all regions at once"
            raise TinycError("InvalidIr", message, where(op.location))
