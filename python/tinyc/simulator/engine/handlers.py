"""Who compiles which opcode: the registries of the engine's files; arithmetic is what none of them has.

A handler takes the `Site` of an instruction and gives its `Step`; it raises PtxError for a form that the ISA does not
have. To add a family of instructions, write a file with `HANDLERS` and list it here.
"""

from collections.abc import Callable

from tinyc.simulator.engine import atomics, barriers, control, fences, loads, moves, warp_ops
from tinyc.simulator.engine.site import Site, Step

HANDLERS: dict[str, Callable[[Site], Step]] = {
    **moves.HANDLERS,
    **loads.HANDLERS,
    **atomics.HANDLERS,
    **control.HANDLERS,
    **barriers.HANDLERS,
    **warp_ops.HANDLERS,
    **fences.HANDLERS,
}
