"""Memory and threads in NVVM's terms: buffers as pointers, loads and stores at addresses, special registers.

In: the ops of a kernel at the scalar level, one at a time, in program order. Out: in their place `llvm` and `nvvm` ops,
on the same `index` and `arith` values; what neither touches memory nor asks for the thread stays as it is.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# `mlir.llvm` and `mlir.nvvm` are imported when they are first used: `mlir.llvm` takes as long as the rest of
# tinyc-opt's start together.
from tinyc import mlir
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import GLOBAL, SHARED, TgpuOp
from tinyc.dialects.gpu.kernel import Position, axis_of
from tinyc.dialects.gpu.to_nvvm.shuffle import lower_shuffle
from tinyc.mlir import arith, gpu, ir, memref
from tinyc.mlir.locations import where

#: NVVM's numbers of the memories that a buffer of a kernel can lie in.
ADDRESS_SPACES = {GLOBAL: 1, SHARED: 3}
#: Enough for what the CTAs of one launch share; the host looks when the launch is over.
SCOPE = "device"
#: The special registers of a thread's and a CTA's place and of the sizes, along x, y and z.
_REGISTERS = {
    gpu.ThreadIdOp: "ThreadId",
    gpu.BlockIdOp: "BlockId",
    gpu.BlockDimOp: "BlockDim",
    gpu.GridDimOp: "GridDim",
}


def pointer(buffer: ir.MemRefType) -> ir.Type:
    """The pointer type in whose memory a buffer lies."""
    return ir.Type.parse(f"!llvm.ptr<{ADDRESS_SPACES[str(buffer.memory_space)]}>")


def is_buffer(kind: ir.Type, memory_space: str) -> bool:
    """Whether a type is a buffer of the scalar level in `memory_space`: one dense axis."""
    if not isinstance(kind, ir.MemRefType) or kind.rank != 1 or str(kind.memory_space) != memory_space:
        return False
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(1))


#: What a lowering returns: the values of the op's results.
_Emitted = ir.Value | Sequence[ir.Value] | None


class MemoryRewriter:
    """Rewrites the ops of one kernel.

    `pointers` are the addresses of the buffers seen so far; `lowerings` are those of the scalar level's own ops.
    """

    def __init__(
        self,
        pointers: dict[ir.Value, ir.Value],
        lowerings: Mapping[type[TgpuOp], Callable[["MemoryRewriter", Any], "_Emitted"]],
    ) -> None:
        self.pointers = pointers
        self._emitters: dict[type[ir.OpView], Callable[[Any], _Emitted]] = {
            memref.GetGlobalOp: self._shared,
            memref.LoadOp: self._load,
            memref.StoreOp: self._store,
            gpu.BarrierOp: _barrier,
            gpu.ShuffleOp: lower_shuffle,
            gpu.ReturnOp: _return,
            **dict.fromkeys(_REGISTERS, _register),
            **{op: functools.partial(lower, self) for op, lower in lowerings.items()},
        }

    def rewrite(self, op: ir.OpView) -> bool:
        """Emit what `op` becomes before it; return whether it is to be erased.

        Raises:
            TinycError: `NoGpuKernel`: the op is not one of the scalar level.
        """
        emit = self._emitters.get(type(op))
        if emit is None:
            _check_is_scalar(op)
            return False
        with ir.InsertionPoint(op), op.location:
            emitted = emit(op)
        values = [emitted] if isinstance(emitted, ir.Value) else emitted or ()
        for result, value in zip(op.results, values, strict=False):  # whether a lane was there is not asked
            result.replace_all_uses_with(value)
        return True

    def address(self, buffer: ir.Value, index: ir.Value) -> ir.Value:
        """Emit the address of an element of a buffer."""
        kind = ir.MemRefType(buffer.type)
        wide = arith.index_cast(ir.IntegerType.get_signless(64), index)
        return element_address(self.pointers[buffer], wide, kind.element_type)

    def _shared(self, op: memref.GetGlobalOp) -> None:
        kind = ir.MemRefType(op.result.type)
        self.pointers[op.result] = mlir.llvm.mlir_addressof(pointer(kind), ir.FlatSymbolRefAttr(op.attributes["name"]))

    def _load(self, op: memref.LoadOp) -> ir.Value:
        return mlir.llvm.load(op.result.type, self.address(op.memref, op.indices[0]))

    def _store(self, op: memref.StoreOp) -> None:
        mlir.llvm.store(op.value, self.address(op.memref, op.indices[0]))


def vector_bytes(elements: Sequence[ir.Value]) -> int:
    """Bytes of neighbouring elements, and their alignment."""
    kind = elements[0].type
    assert isinstance(kind, ir.IntegerType | ir.FloatType)
    return len(elements) * kind.width // 8


def vector_type(elements: Sequence[ir.Value]) -> ir.Type:
    """The vector that neighbouring elements are."""
    return ir.Type.parse(f"vector<{len(elements)}x{elements[0].type}>")


def element_address(base: ir.Value, index: ir.Value, kind: ir.Type) -> ir.Value:
    """Emit the address of element `index` (i64) of an array of `kind`."""
    dynamic = ir.DenseI32ArrayAttr.get([-(2**31)])
    return mlir.llvm.getelementptr(base.type, base, [index], dynamic, kind, None)


def _barrier(op: gpu.BarrierOp) -> None:
    mlir.nvvm.BarrierOp()


def _return(op: gpu.ReturnOp) -> None:
    mlir.llvm.ReturnOp()


def _register(op: Position) -> ir.Value:
    """Read the special register of a thread's or a CTA's position or of a size; none is negative."""
    read = getattr(mlir.nvvm, f"{_REGISTERS[type(op)]}{axis_of(op).upper()}Op")
    return arith.index_castui(ir.IndexType.get(), read(results=[ir.IntegerType.get_signless(32)]).result)


def _check_is_scalar(op: ir.OpView) -> None:
    name = op.operation.name
    # What takes a memref in these dialects, to choose it or to carry it, gives one.
    makes_memory = any(isinstance(result.type, ir.MemRefType) for result in op.results)
    if name.partition(".")[0] in ("arith", "math", "scf") and not makes_memory:
        return
    raise TinycError(
        "NoGpuKernel",
        f"'{name}' is not an op of a kernel at the scalar level; write memory accesses as memref.load and memref.store "
        "of a one-dimensional buffer",
        where(op.location),
    )
