"""What a region must be to become a GPU kernel, and the host program beside it."""

from typing import Any

from tinyc.analysis.access import NonScop, trace
from tinyc.analysis.graphs import is_tensor
from tinyc.analysis.tiny_ops import is_movement
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.contract import is_checked, symbols_in
from tinyc.dialects.region.verify import block_of, require_materialized
from tinyc.text import where

#: CUDA C++ Programming Guide, "Function Parameters": what a kernel takes at most, before PTX ISA 8.1.
PARAMETER_BYTES = 4096
_PARAMETER_BYTES_EACH = 8  # a pointer, or an extent


def require_kernel(kernel: Any) -> None:
    """Check that a region can be a GPU kernel.

    Raises:
        TinycError: `InvalidAttribute`: an output has no memory; `NoGpuKernel`.
    """
    require_materialized(kernel)
    _require_few_parameters(kernel)
    _require_affine_movements(kernel)


def _require_few_parameters(kernel: Any) -> None:
    buffers, symbols = len(list(block_of(kernel).arguments)), len(symbols_in(kernel))
    size = (buffers + is_checked(kernel) + symbols) * _PARAMETER_BYTES_EACH
    if size > PARAMETER_BYTES:
        raise TinycError(
            "NoGpuKernel",
            f"the kernel takes {buffers} buffers and {symbols} symbols, {size} bytes of parameters; a GPU kernel has "
            f"{PARAMETER_BYTES}: split the region",
            where(kernel.location),
        )


def _require_affine_movements(kernel: Any) -> None:
    for op in block_of(kernel).operations:
        if is_movement(op.operation):
            continue
        for operand in op.operation.operands:
            access = trace(operand) if is_tensor(operand.type) else None
            if isinstance(access, NonScop):
                raise TinycError(
                    "NoGpuKernel",
                    f"'{access.op.operation.name}' has no access map: {access.reason}; read its result from a buffer",
                    where(access.op.location),
                )


def require_host(module: Any) -> None:
    """Check that what stands beside the kernels is as the pass needs it.

    Raises:
        TinycError: `InvalidIr`: the host program is lowered already, or other GPU kernels are in the module.
    """
    for op in module.body.operations:
        if op.operation.name == "exec.function":
            message = "the host program is lowered already; run --region-to-gpu before --region-to-exec"
            raise TinycError("InvalidIr", message, where(op.location))
        if op.operation.name == "gpu.module":
            message = "the module has GPU kernels already, and regions beside them; lower all regions at once"
            raise TinycError("InvalidIr", message, where(op.location))
