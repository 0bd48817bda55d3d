"""Runs the scalar level of a kernel in numpy: the threads of a block in step, one array element for each thread.

`launch` updates the arrays among the arguments. An assertion fails where an access is out of bounds, where shared
memory is read before it is written, where two threads access one element, one of them to write it, with no barrier
between them, or where not all threads reach a barrier.
"""

import itertools
import math

import numpy as np
from simt_ops import COMPUTE, DIVISIONS, constant, dtype_of

NOBODY = -1


class Memory:
    """A row of elements, and for each the threads that have accessed it since the last barrier."""

    def __init__(self, array, written=True):
        self.array, self.written = array, np.full(array.size, written)
        self.forget()

    def forget(self):
        """Begin anew: what was accessed before a barrier is no race with what is accessed after it."""
        self.writer = np.full(self.array.size, NOBODY)
        self.first_reader, self.last_reader = np.full(self.array.size, 2**62), np.full(self.array.size, NOBODY)

    def read(self, at, threads):
        self._check_bounds(at)
        assert self.written[at].all(), "memory is read before it is written"
        assert np.all((self.writer[at] == NOBODY) | (self.writer[at] == threads)), "race: a read beside a write"
        np.minimum.at(self.first_reader, at, threads)
        np.maximum.at(self.last_reader, at, threads)
        return self.array[at]

    def write(self, at, threads, values):
        self._check_bounds(at)
        assert np.unique(at).size == at.size, "race: two writes"
        assert np.all((self.writer[at] == NOBODY) | (self.writer[at] == threads)), "race: two writes"
        unread = self.last_reader[at] == NOBODY
        own = (self.first_reader[at] == threads) & (self.last_reader[at] == threads)
        assert np.all(unread | own), "race: a write beside a read"
        self.array[at], self.writer[at], self.written[at] = values, threads, True

    def _check_bounds(self, at):
        assert np.all((at >= 0) & (at < self.array.size)), "out of bounds"


def launch(function, grid, arguments):
    """Run a kernel with an array or a number for each of its arguments."""
    memories = [Memory(each) if isinstance(each, np.ndarray) else each for each in arguments]
    with np.errstate(all="ignore"):
        for number, block in enumerate(itertools.product(*(range(extent) for extent in reversed(grid)))):
            _Block(function, grid, block[::-1], number, memories).run()


class _Block:
    def __init__(self, function, grid, place, number, arguments):
        self.function, self.grid, self.place = function.operation, grid, place
        self.size = tuple(function.operation.attributes["known_block_size"])
        lanes = np.arange(math.prod(self.size))
        self.threads = number * lanes.size + lanes
        x, y, _ = self.size
        self.thread_ids = (lanes % x, lanes // x % y, lanes // (x * y))
        self.values = {}
        self.shared = {}
        for parameter, value in zip(self._entry.arguments, arguments, strict=True):
            self.values[parameter] = value if isinstance(value, Memory) else np.full(lanes.size, value, np.int64)

    @property
    def _entry(self):
        return self.function.regions[0].blocks[0]

    def run(self):
        self._ops(self._entry, np.full(self.threads.size, True))

    def _ops(self, block, active):
        """Run a block in the `active` threads; return what it yields."""
        for op in block.operations:
            op = op.operation
            operands = [self.values[operand] for operand in op.operands]
            if op.name in ("scf.yield", "gpu.return"):
                return operands
            results = self._one(op, operands, active)
            self.values.update(zip(op.results, results, strict=True))
        raise AssertionError("a block without an end")

    def _one(self, op, operands, active):
        if op.name == "arith.constant":
            return [np.broadcast_to(constant(op), self.threads.shape)]
        if op.name in COMPUTE:
            assert op.name not in DIVISIONS or np.all(operands[1][active] != 0), "division by zero"
            results = COMPUTE[op.name](op, *operands)
            return results if isinstance(results, tuple) else [results]
        return getattr(self, op.name.replace(".", "_"))(op, operands, active)

    # --- control flow -------------------------------------------------------------------------------------------------

    def scf_for(self, op, operands, active):
        index, high, step, *carried = operands
        body = op.regions[0].blocks[0]
        while np.any(active := active & (index < high)):
            self.values.update(zip(body.arguments, [index, *carried], strict=True))
            carried = [np.where(active, *pair) for pair in zip(self._ops(body, active), carried, strict=True)]
            index = index + step
        return carried

    def scf_if(self, op, operands, active):
        (condition,) = operands
        results = [np.zeros(self.threads.size, dtype_of(result.type)) for result in op.results]
        for region, taken in zip(op.regions, (active & condition, active & ~condition), strict=True):
            if len(region.blocks) and np.any(taken):
                yielded = self._ops(region.blocks[0], taken)
                results = [np.where(taken, *pair) for pair in zip(yielded, results, strict=True)]
        return results

    def gpu_barrier(self, op, operands, active):
        assert active.all(), "not all threads reach a barrier"
        for memory in self.shared.values():
            memory.forget()
        return []

    # --- places -------------------------------------------------------------------------------------------------------

    def gpu_thread_id(self, op, operands, active):
        return [self.thread_ids[_dimension(op)]]

    def gpu_block_id(self, op, operands, active):
        return [np.full(self.threads.size, self.place[_dimension(op)])]

    def gpu_grid_dim(self, op, operands, active):
        return [np.full(self.threads.size, self.grid[_dimension(op)])]

    # --- memory -------------------------------------------------------------------------------------------------------

    def memref_get_global(self, op, operands, active):
        name, kind = op.attributes["name"].value, op.results[0].type
        if name not in self.shared:
            array = np.zeros(kind.shape[0], dtype_of(kind.element_type))
            self.shared[name] = Memory(array, written=False)
        return [self.shared[name]]

    def memref_load(self, op, operands, active):
        memory, at = operands
        loaded = np.zeros(self.threads.size, memory.array.dtype)
        loaded[active] = memory.read(at[active], self.threads[active])
        return [loaded]

    def memref_store(self, op, operands, active):
        value, memory, at = operands
        memory.write(at[active], self.threads[active], value[active])
        return []

    def tgpu_atomic_add(self, op, operands, active):
        value, memory, at = operands
        assert np.all((at[active] >= 0) & (at[active] < memory.array.size)), "out of bounds"
        for place, each in zip(at[active], value[active], strict=True):
            memory.array[place] += each
        return []

    def tgpu_report_index(self, op, operands, active):
        status, position = operands
        if np.any(active) and status.array[0] == 0:
            status.array[:] = 1, position[active][0]
        return []


def _dimension(op):
    return "xyz".index(str(op.attributes["dimension"])[-2])
