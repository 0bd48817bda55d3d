"""What the host needs to know of the kernels of GPU code, at any level of it.

In: a module with `gpu.module`s or `gpu.binary`s. Out: its kernels as `Launchable`s. A function of statements says all
of itself: its grid, cluster and CTA, its buffers, workspaces, status slot, extents and tensor maps, in this order, and
the kernel that goes before it.
Expanded further, it has its name left.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.statements.load_tile import YieldOp
from tinyc.dialects.launch import Launchable, LaunchContract, MemorySpace
from tinyc.dialects.region import ops as region
from tinyc.mlir import gpu, ir
from tinyc.vocabulary.attributes import decode
from tinyc.vocabulary.types import TensorType

_ENTRY = re.compile(r"\.entry ([\w$]+)\(")


@dataclass(frozen=True)
class GpuCode(Launchable):
    """A kernel in code for a GPU; `op` is its `gpu.func`, or None where it is lowered further."""

    op: gpu.GPUFuncOp | None
    symbol: str

    @property
    def memory_space(self) -> MemorySpace:
        """The GPU's."""
        return "device"

    @property
    def bodies(self) -> list[ir.Block]:
        """The bodies of its statements."""
        return [] if self.op is None else list(_bodies(self.op))

    @property
    def tensors(self) -> tuple[TensorType, ...] | None:
        """The tensors that its inputs and outputs hold; None once a buffer is any memref."""
        kernel = None if self.op is None else GpuKernel(self.op)
        if kernel is None or not kernel.has_statements:
            return None
        workspaces = set(kernel.workspaces)
        return tuple(region.held_tensor(each.type) for each in kernel.buffers if each not in workspaces)

    @property
    def in_place(self) -> tuple[tuple[int, int], ...] | None:
        """The pairs of buffers that may be one memory; None once it is no function for a GPU."""
        return None if self.op is None else GpuKernel(self.op).in_place

    @property
    def init(self) -> str | None:
        """The kernel that is launched before it."""
        return None if self.op is None else GpuKernel(self.op).init

    def contract(self) -> LaunchContract:
        """The launch contract.

        Raises:
            TinycError: `InvalidIr`: the function is expanded already.
        """
        tensors = self.tensors
        if self.op is None or tensors is None:
            message = f"gpu.func @{self.symbol} is expanded already; run --region-to-exec before --gpu-expand"
            raise TinycError("InvalidIr", message, Where(node=self.symbol))
        kernel = GpuKernel(self.op)
        x, y, z = kernel.cta_shape or (1, 1, 1)
        return LaunchContract(
            symbol=self.symbol,
            memory_space="device",
            grid=decode(self.op.attributes["tgpu.grid"]),
            cta_shape=(x, y, z),
            tensors=tensors,
            is_checked=kernel.status is not None,
            symbols=tuple(kernel.symbols),
            workspaces=tuple(region.held_tensor(each.type) for each in kernel.workspaces),
            updates=self.init is not None,
            sizes=kernel.sizes,
            guards=kernel.guards,
            cluster=kernel.cluster,
            dynamic_shared_bytes=kernel.dynamic_shared_bytes,
            tensor_maps=kernel.tensor_maps,
        )


def _bodies(op: ir.OpView) -> Iterator[ir.Block]:
    """The blocks inside `op` that compute values and yield them."""
    for block in (block for each in op.regions for block in each.blocks):
        if any(isinstance(inner, region.YieldOp | YieldOp) for inner in block.operations):
            yield block
        else:
            for inner in block.operations:
                yield from _bodies(inner)


def launchables(module: ir.Module) -> dict[str, GpuCode]:
    """The kernels of a module's GPU code by name: functions, or entries of PTX."""
    found: dict[str, GpuCode] = {}
    for op in module.body.operations:
        if isinstance(op, gpu.GPUModuleOp):
            for inner in op.bodyRegion.blocks[0].operations:
                if isinstance(inner, gpu.GPUFuncOp):
                    found[inner.name.value] = GpuCode(inner, inner.name.value)
                elif isinstance(inner, mlir.llvm.LLVMFuncOp):
                    found[inner.sym_name.value] = GpuCode(None, inner.sym_name.value)
        elif isinstance(op, gpu.BinaryOp):
            found.update({name: GpuCode(None, name) for name in _ENTRY.findall(str(op.objects))})
    return found
