"""Memory and threads in NVVM's terms: buffers as pointers, loads and stores at addresses, special registers.

In: the ops of a kernel at the scalar level, one at a time, in program order. Out: in their place `llvm` and `nvvm` ops,
on the same `index` and `arith` values; what neither touches memory nor asks for the thread stays as it is.
"""

import re
from collections.abc import Callable
from typing import Any

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.ops import GLOBAL, SHARED
from tinyc.mlir import arith, ir, scf
from tinyc.text import where

#: NVVM's numbers of the memories that a buffer of a kernel can lie in.
ADDRESS_SPACES = {GLOBAL: 1, SHARED: 3}
_REGISTERS = {"gpu.thread_id": "tid", "gpu.block_id": "ctaid", "gpu.block_dim": "ntid", "gpu.grid_dim": "nctaid"}
_DIMENSION = re.compile(r"dim ([xyz])")
#: Enough for what the blocks of one launch share; the host looks when the launch is over.
_SCOPE = "device"


def pointer(buffer_type: Any) -> Any:
    """Return the pointer type in whose memory a buffer lies."""
    return ir.Type.parse(f"!llvm.ptr<{ADDRESS_SPACES[str(buffer_type.memory_space)]}>")


def is_buffer(kind: Any, memory_space: str) -> bool:
    """Say whether a type is a buffer of the scalar level in `memory_space`: one dense axis."""
    if not isinstance(kind, ir.MemRefType) or kind.rank != 1 or str(kind.memory_space) != memory_space:
        return False
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(1))


class MemoryRewriter:
    """Rewrites the ops of one kernel; `pointers` are the addresses of the buffers seen so far."""

    def __init__(self, pointers: dict[Any, Any]) -> None:
        self.pointers = pointers
        self._emitters: dict[str, Callable[[Any], Any]] = {
            "memref.get_global": self._shared,
            "memref.load": self._load,
            "memref.store": self._store,
            "tgpu.atomic_add": self._atomic_add,
            "tgpu.report_index": self._report_index,
            "gpu.barrier": lambda op: ir.Operation.create("nvvm.barrier"),
            "gpu.return": lambda op: ir.Operation.create("llvm.return"),
            **dict.fromkeys(_REGISTERS, _register),
        }

    def rewrite(self, op: Any) -> bool:
        """Emit what `op` becomes before it; return whether it is to be erased.

        Raises:
            TinycError: `NoGpuKernel`: the op is not one of the scalar level.
        """
        emit = self._emitters.get(op.name)
        if emit is None:
            _check_is_scalar(op)
            return False
        with ir.InsertionPoint(op), op.location:
            emitted = emit(op)
        if op.results and op.results[0] not in self.pointers:
            op.results[0].replace_all_uses_with(emitted)
        return True

    def _shared(self, op: Any) -> None:
        result = op.results[0]
        self.pointers[result] = mlir.llvm.mlir_addressof(pointer(result.type), op.attributes["name"].value)

    def _load(self, op: Any) -> Any:
        buffer, index = op.operands
        return mlir.llvm.load(op.results[0].type, self._address(buffer, index))

    def _store(self, op: Any) -> None:
        value, buffer, index = op.operands
        mlir.llvm.store(value, self._address(buffer, index))

    def _atomic_add(self, op: Any) -> None:
        """Emit one addition in memory, rounded once; LLVM loops over a compare-and-swap where there is none.

        The hardware's addition of f32 takes and gives zeros for subnormal numbers (PTX ISA, "atom").
        """
        value, buffer, index = op.operands
        kind = mlir.llvm.AtomicBinOp
        addition = kind.add if isinstance(value.type, ir.IntegerType) else kind.fadd
        order = mlir.llvm.AtomicOrdering.monotonic
        mlir.llvm.AtomicRMWOp(addition, self._address(buffer, index), value, order, syncscope=_SCOPE)

    def _report_index(self, op: Any) -> None:
        """Emit the note of the first thread to claim the status buffer: its flag, then the position."""
        status, position = op.operands
        i64, order = ir.IntegerType.get_signless(64), mlir.llvm.AtomicOrdering.monotonic
        free, claimed = (arith.constant(i64, flag) for flag in (0, 1))
        base = self.pointers[status]
        claim = mlir.llvm.AtomicCmpXchgOp(base, free, claimed, order, order, syncscope=_SCOPE)
        won = mlir.llvm.extractvalue(ir.IntegerType.get_signless(1), claim.result, ir.DenseI64ArrayAttr.get([1]))
        first = scf.IfOp(won)
        with ir.InsertionPoint(first.then_block):
            mlir.llvm.store(arith.index_cast(i64, position), self._element(base, claimed, i64))
            scf.yield_([])

    def _address(self, buffer: Any, index: Any) -> Any:
        wide = arith.index_cast(ir.IntegerType.get_signless(64), index)
        return self._element(self.pointers[buffer], wide, buffer.type.element_type)

    @staticmethod
    def _element(base: Any, index: Any, kind: Any) -> Any:
        """Return the address of element `index` (i64) of an array of `kind`."""
        dynamic = ir.DenseI32ArrayAttr.get([-(2**31)])
        return mlir.llvm.getelementptr(base.type, base, [index], dynamic, kind, None)


def _register(op: Any) -> Any:
    """Read the special register of a thread's or block's position or of a size; none is negative."""
    dimension = _DIMENSION.search(str(op.attributes["dimension"]))
    assert dimension is not None
    name = f"nvvm.read.ptx.sreg.{_REGISTERS[op.name]}.{dimension[1]}"
    read = ir.Operation.create(name, results=[ir.IntegerType.get_signless(32)])
    return arith.index_castui(ir.IndexType.get(), read.result)


def _check_is_scalar(op: Any) -> None:
    values = [*op.operands, *op.results]
    if op.name.partition(".")[0] in ("arith", "math", "scf") and not any(
        isinstance(value.type, ir.MemRefType) for value in values
    ):
        return
    raise TinycError(
        "NoGpuKernel",
        f"'{op.name}' is no op of a kernel at the scalar level; write memory accesses as memref.load and memref.store "
        "of a one-dimensional buffer",
        where(op.location),
    )
