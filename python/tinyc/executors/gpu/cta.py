"""A kernel at the scalar level, run CTA by CTA: each op at once in all threads that are active.

In: a `gpu.func` that --gpu-expand has made, the CTAs of its grid, and an array or a number for each argument. Out: the
arrays among the arguments, updated. Threads that a branch or the end of a loop leaves behind wait for the others.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from tinyc.dialects.gpu.kernel import WARP_LANES, GpuKernel, Position, axis_of, shuffle_mode
from tinyc.dialects.gpu.statements import AtomicAddOp, LoadVectorOp, ReportIndexOp, StoreVectorOp
from tinyc.executors.gpu.arithmetic import COMPUTE, DIVISIONS, constant_array, scalar_dtype
from tinyc.executors.gpu.memory import Array, CheckedMemory, KernelFault
from tinyc.mlir import arith, gpu, ir, memref, scf
from tinyc.runtime.device_memory import Argument, PlacedTensorMap

#: What a value of a kernel is: a number for each thread, a buffer, or a tensor map.
_Held: TypeAlias = Array | CheckedMemory | PlacedTensorMap
_Kind = TypeVar("_Kind", Array, CheckedMemory, PlacedTensorMap)


def run_gpu_kernel(kernel: GpuKernel, grid: Sequence[int], arguments: Sequence[Argument]) -> None:
    """Run a kernel of `grid` CTAs along x, y and z; buffers are arrays of one axis, of their storage type.

    The array of a tensor map is that of a buffer.

    Raises:
        KernelFault: an access is out of bounds, memory is read before it is written, threads race, or not all of them
            reach a barrier.
    """
    memories = [CheckedMemory(each) if isinstance(each, np.ndarray) else each for each in arguments]
    with np.errstate(all="ignore"):
        for number, place in enumerate(itertools.product(*(range(extent) for extent in reversed(grid)))):
            _Cta(kernel, grid, place[::-1], number, memories).run()


class _Cta:
    """One CTA; `values` are what the ops so far have given."""

    def __init__(
        self,
        kernel: GpuKernel,
        grid: Sequence[int],
        place: Sequence[int],
        number: int,
        arguments: Sequence[CheckedMemory | PlacedTensorMap | int],
    ) -> None:
        self.kernel = kernel
        lanes = np.arange(math.prod(kernel.cta_shape))
        self.threads = number * lanes.size + lanes
        x, y, _ = kernel.cta_shape
        self.positions: dict[type[ir.OpView], Sequence[Array | int]] = {
            gpu.ThreadIdOp: (lanes % x, lanes // x % y, lanes // (x * y)),
            gpu.BlockIdOp: place,
            gpu.BlockDimOp: kernel.cta_shape,
            gpu.GridDimOp: grid,
        }
        self.values: dict[ir.Value, _Held] = {}
        self.shared: dict[str, CheckedMemory] = {}
        for parameter, value in zip(kernel.arguments, arguments, strict=True):
            is_number = not isinstance(value, CheckedMemory | PlacedTensorMap)
            self.values[parameter] = np.full(lanes.size, value, np.int64) if is_number else value

    def run(self) -> None:
        """Run all threads from the start to the end."""
        self._block(self.kernel.block, np.full(self.threads.size, True))

    def _block(self, block: ir.Block, active: Array) -> list[Array]:
        """Run a block in the `active` threads; return what it yields."""
        for op in block.operations:
            if isinstance(op, scf.YieldOp | gpu.ReturnOp):
                return [self._number(operand) for operand in op.operands]
            self.values.update(zip(op.results, self._op(op, active), strict=True))
        raise AssertionError("a block ends in a terminator")

    def _number(self, value: ir.Value) -> Array:
        return _of_kind(self.values[value], np.ndarray)

    def _memory(self, value: ir.Value) -> CheckedMemory:
        return _of_kind(self.values[value], CheckedMemory)

    def _op(self, op: ir.OpView, active: Array) -> Sequence[_Held]:
        """Run an op; return its results."""
        if isinstance(op, arith.ConstantOp):
            return [np.broadcast_to(constant_array(op), self.threads.shape)]
        if type(op) in COMPUTE:
            return self._compute(op, active)
        if type(op) in self.positions:
            assert isinstance(op, Position)
            position = self.positions[type(op)]["xyz".index(axis_of(op))]
            return [np.broadcast_to(np.asarray(position), self.threads.shape)]
        if isinstance(op, scf.ForOp):
            return self._for(op, active)
        if isinstance(op, scf.IfOp):
            return self._if(op, active)
        if isinstance(op, gpu.BarrierOp):
            self._barrier(active)
            return []
        if isinstance(op, gpu.ShuffleOp):
            return self._shuffle(op, active)
        return self._access(op, active)

    def _compute(self, op: ir.OpView, active: Array) -> Sequence[Array]:
        operands = [self._number(operand) for operand in op.operands]
        if isinstance(op, DIVISIONS) and not np.all(operands[1][active] != 0):
            raise KernelFault("a division by zero")
        results = COMPUTE[type(op)](op, *operands)
        return results if isinstance(results, tuple) else [results]

    # --- control flow -------------------------------------------------------------------------------------------------

    def _for(self, op: scf.ForOp, active: Array) -> list[Array]:
        index, high, step = (self._number(each) for each in (op.lowerBound, op.upperBound, op.step))
        carried = [self._number(each) for each in op.initArgs]
        while np.any(active := active & (index < high)):
            self.values.update(zip(op.body.arguments, [index, *carried], strict=True))
            carried = [np.where(active, *pair) for pair in zip(self._block(op.body, active), carried, strict=True)]
            index = index + step
        return carried

    def _if(self, op: scf.IfOp, active: Array) -> list[Array]:
        condition = self._number(op.condition)
        results = [np.zeros(self.threads.size, scalar_dtype(result.type)) for result in op.results]
        for region, taken in zip(op.regions, (active & condition, active & ~condition), strict=True):
            if len(region.blocks) and np.any(taken):
                yielded = self._block(region.blocks[0], taken)
                results = [np.where(taken, *pair) for pair in zip(yielded, results, strict=True)]
        return results

    def _barrier(self, active: Array) -> None:
        if not active.all():
            raise KernelFault("not all threads reach a barrier")
        for memory in self.shared.values():
            memory.forget()

    def _shuffle(self, op: gpu.ShuffleOp, active: Array) -> list[Array]:
        """Each lane takes the value of another one of its warp, or keeps its own where there is none."""
        lanes = np.arange(self.threads.size)
        lane, warp = lanes % WARP_LANES, lanes - lanes % WARP_LANES
        if np.any(active != active[np.minimum(warp, lanes.size - 1)]) or lanes.size % WARP_LANES:
            raise KernelFault("not all lanes of a warp reach a shuffle")
        value, offset = self._number(op.value), self._number(op.offset)
        mode = shuffle_mode(op)
        other = {"xor": lane ^ offset, "up": lane - offset, "down": lane + offset, "idx": offset}[mode]
        found = (other >= 0) & (other < WARP_LANES)
        return [np.where(found, value[np.where(found, warp + other, lanes)], value), found]

    # --- memory -------------------------------------------------------------------------------------------------------

    def _access(self, op: ir.OpView, active: Array) -> Sequence[_Held]:
        if isinstance(op, memref.GetGlobalOp):
            return [self._array(op)]
        if isinstance(op, memref.LoadOp):
            return [self._load(self._memory(op.memref), self._number(op.indices[0]), active)]
        if isinstance(op, LoadVectorOp):
            memory, places = self._memory(op.buffer), self._places(op.index, len(op.results), active)
            return [self._load(memory, at, active) for at in places]
        if isinstance(op, StoreVectorOp):
            memory, places = self._memory(op.buffer), self._places(op.index, len(op.elements), active)
            for at, element in zip(places, op.elements, strict=True):
                memory.write(at[active], self.threads[active], self._number(element)[active])
        elif isinstance(op, memref.StoreOp):
            at, value = self._number(op.indices[0]), self._number(op.value)
            self._memory(op.memref).write(at[active], self.threads[active], value[active])
        elif isinstance(op, AtomicAddOp):
            memory, at, value = self._memory(op.buffer), self._number(op.index), self._number(op.value)
            memory.check_bounds(at[active])
            np.add.at(memory.array, at[active], value[active])
        elif isinstance(op, ReportIndexOp):
            status, words = self._memory(op.status).array, (op.index, op.extent, *op.at)
            if np.any(active) and status[0] == 0:
                index, extent, *at = (int(self._number(word)[active][0]) for word in words)
                status[: 4 + len(at)] = [1 + len(at), index, op.axis.value, extent, *at]
        else:
            raise KernelFault(f"'{op.operation.name}' is not an op of the scalar level")
        return []

    def _load(self, memory: CheckedMemory, at: Array, active: Array) -> Array:
        loaded = np.zeros(self.threads.size, memory.array.dtype)
        loaded[active] = memory.read(at[active], self.threads[active])
        return loaded

    def _places(self, index: ir.Value, count: int, active: Array) -> list[Array]:
        """The positions of `count` neighbours from `index` on, which must be a multiple of that."""
        first = self._number(index)
        if np.any(first[active] % count):
            raise KernelFault(f"an access of {count} elements is not at a multiple of that")
        return [first + number for number in range(count)]

    def _array(self, op: memref.GetGlobalOp) -> CheckedMemory:
        """An array in shared memory, which is new where a CTA starts."""
        name, kind = ir.FlatSymbolRefAttr(op.attributes["name"]).value, ir.MemRefType(op.result.type)
        if name not in self.shared:
            self.shared[name] = CheckedMemory(np.zeros(kind.shape[0], scalar_dtype(kind.element_type)), written=False)
        return self.shared[name]


def _of_kind(held: Any, kind: type[_Kind]) -> _Kind:
    assert isinstance(held, kind), "a verified op works on numbers, or on buffers, as it says"
    return held
