"""Who compiles which opcode: the registries of the engine's files; arithmetic is what none of them has.

A handler takes the `Site` of an instruction and gives its `Step`; it raises PtxError for a form that the ISA does not
have. To add a family of instructions, write a file with `HANDLERS` and list it here.
"""

from collections.abc import Callable

from tinyc.simulator.engine.copies import async_stores, map_operands
from tinyc.simulator.engine.copies import families as copies
from tinyc.simulator.engine.instructions import (
    atomics,
    barriers,
    cache_policy,
    control,
    fences,
    loads,
    matrix_ops,
    moves,
    warp_ops,
)
from tinyc.simulator.engine.mbarrier import instructions as mbarrier_ops
from tinyc.simulator.engine.site import Site, Step
from tinyc.simulator.engine.wgmma import instructions as wgmma

HANDLERS: dict[str, Callable[[Site], Step]] = {
    **moves.HANDLERS,
    **loads.HANDLERS,
    **atomics.HANDLERS,
    **control.HANDLERS,
    **barriers.HANDLERS,
    **warp_ops.HANDLERS,
    **fences.HANDLERS,
    **cache_policy.HANDLERS,
    **mbarrier_ops.HANDLERS,
    **copies.HANDLERS,
    **map_operands.HANDLERS,
    **async_stores.HANDLERS,
    **matrix_ops.HANDLERS,
    **wgmma.HANDLERS,
}
