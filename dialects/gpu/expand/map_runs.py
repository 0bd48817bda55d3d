"""`tgpu.map_runs` for one thread: runs of neighbours, and what is left of them at the end."""

from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import MapRunsOp
from tinyc.expr import extents
from tinyc.expr.axes import constant
from tinyc.expr.extents import Dim


def expand(expansion: Expansion, op: MapRunsOp) -> None:
    """Emit the loop over runs of neighbours, and behind it that over the elements that make no whole run."""
    steps, width = LoopSteps.of(op, expansion.elements), op.width.value
    total = extents.product(steps.extents)
    runs = extents.floordiv(total, width)
    _share(expansion, steps, runs, width, 0)
    if extents.divide(total, width) is None:
        _share(expansion, steps, total - runs * width, 1, runs * width)


def _share(expansion: Expansion, steps: LoopSteps, runs: Dim, width: int, start: Dim) -> None:
    """Emit the loop in which the threads of the grid share runs of `width` elements from `start` on."""
    elements = expansion.elements
    counters = elements.counters
    with expansion.threads.shared_in_grid(runs) as number:
        comment(f"map_runs: {width} neighbours for each thread at a time" if width > 1 else "map_runs: the rest")
        first = counters.expression(number) * width + start
        with elements.run(number, width, covered=(first, extents.product(steps.extents))):
            places = [
                elements.delinearized(counters.value(first + constant(lane)), steps.extents) for lane in range(width)
            ]
            for phase in steps.found.loops.phases:
                value = steps.found.value(phase)
                indices = [steps.index(phase, place, ()) for place in places]
                values = [elements.at(value, indices[lane]) for lane in elements.lanes()]
                for each in steps.yields[value]:
                    elements.store_run(each.buffer, indices, values)
