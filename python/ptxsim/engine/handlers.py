"""Who compiles which opcode: the registries of the engine's files; arithmetic is what none of them has.

A handler takes the `Site` of an instruction and gives its `Step`; it raises PtxError for a form that the ISA does not
have. To add a family of instructions, write a file with `HANDLERS` and list it here.
"""

from collections.abc import Callable

from ptxsim.copies import async_stores
from ptxsim.copies import instructions as copies
from ptxsim.copies import map_instructions as map_operands
from ptxsim.instructions import atomics, barriers, cache_policy, control, fences, loads, moves
from ptxsim.instructions import warp as warp_ops
from ptxsim.machine.cta import Step
from ptxsim.machine.site import Site
from ptxsim.matrix import instructions as matrix_ops
from ptxsim.mbarrier import instructions as mbarrier_ops
from ptxsim.wgmma import instructions as wgmma

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
