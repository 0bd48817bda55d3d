"""The statements whose work the threads of the whole grid share, in code for one thread."""

import itertools
from typing import Any

from tinyc.analysis import extents
from tinyc.codegen import scalars, scatter_update, top_k
from tinyc.codegen.elements import Index
from tinyc.dialects.gpu.bodies import only, outputs_of, store
from tinyc.dialects.gpu.ops import AtomicAddOp
from tinyc.dialects.gpu.thread_elements import ThreadElements
from tinyc.dialects.gpu.threads import Threads, comment
from tinyc.dialects.region.verify import block_of, yields_of
from tinyc.dialects.tiny.attributes import tensor_type


def compute_map(elements: ThreadElements, threads: Threads, op: Any) -> None:
    """Compute each element of the outputs; outputs of one shape are computed together."""
    by_shape = itertools.groupby(yields_of(op), lambda each: tensor_type(each.operation.operands[0].type).shape)
    for shape, yields in by_shape:
        with threads.shared_in_grid(elements.extent(extents.product(shape))) as number:
            comment("map: one element for each thread at a time")
            index = elements.delinearized(number, shape)
            store(elements, list(yields), index)
    for each in block_of(op).operations:
        if each.operation.name == "tiny.scatter":
            _check_positions(elements, threads, each)


def _check_positions(elements: ThreadElements, threads: Threads, scatter: Any) -> None:
    """Report the positions of a scatter that are out of range, also where there is no element to compute."""
    shape = tensor_type(scatter.operation.operands[2].type).shape
    with threads.shared_in_grid(elements.extent(extents.product(shape))) as number:
        comment("scatter: one update's position for each thread at a time")
        elements.check_positions(scatter, elements.delinearized(number, shape))


def find_topk(elements: ThreadElements, threads: Threads, op: Any) -> None:
    """Find the best elements of each lane, which one thread searches."""
    search = only(op, "tiny.topk")
    lanes = top_k.lanes(search)
    with threads.shared_in_grid(elements.extent(extents.product(lanes))) as number:
        comment("topk: one lane for each thread at a time")
        top_k.write(elements, search, elements.delinearized(number, lanes), outputs_of(op))


def add_scattered(elements: ThreadElements, threads: Threads, op: Any) -> None:
    """Add each update to the output, which holds the data already."""
    scatter = only(op, "tiny.scatter")
    (output,) = outputs_of(op).values()
    shape = tensor_type(scatter.operation.operands[2].type).shape

    def add(target: Index, update: Any) -> None:
        stored = scalars.to_storage(elements.element_of(output), update)
        AtomicAddOp(stored, elements.buffers[output], elements.linear(output, target))

    with threads.shared_in_grid(elements.extent(extents.product(shape))) as number:
        comment("scatter_add: one update for each thread at a time")
        scatter_update.at_target(elements, scatter, elements.delinearized(number, shape), add)
