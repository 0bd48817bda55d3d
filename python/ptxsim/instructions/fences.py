"""Fences, and instructions that only matter to time: `membar`, `fence`, `nanosleep`, `setmaxnreg`, `griddepcontrol`.

Memory is the same for all threads here, so that a fence changes no value; who observes the launch is told of it.
Source: PTX ISA, `membar`/`fence`, `nanosleep`, `setmaxnreg`, `griddepcontrol`, `brkpt`, `pmevent`.
"""

from collections.abc import Callable

import numpy as np

from ptxsim.machine.addresses import address_reader
from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.observer import Region
from ptxsim.machine.site import Site
from ptxsim.memory.byte_array import ALLOCATED
from ptxsim.tensor_maps.encoding import MAP_BYTES

_ORDERS = ("sc", "acq_rel", "acquire", "release")
_SCOPES = ("cta", "cluster", "gpu", "sys")
_PROXIES = (
    "alias",
    "async",
    "async.global",
    "async.shared::cta",
    "async.shared::cluster",
    *(f"tensormap::generic.{order}.{scope}" for order in ("acquire", "release") for scope in _SCOPES),
)
_FENCES = frozenset(
    {f"{scope}" for scope in _SCOPES}
    | {f"{order}.{scope}" for order in _ORDERS for scope in _SCOPES}
    | {f"proxy.{kind}" for kind in _PROXIES}
    | {"mbarrier_init.release.cluster"}
    | {
        f"{order}.sync_restrict::shared::{space}.cluster"
        for order, space in (("acquire", "cluster"), ("release", "cta"))
    }
    | {
        f"proxy.async::generic.{order}.sync_restrict::shared::{space}.cluster"
        for order, space in (("acquire", "cluster"), ("release", "cta"))
    }
)
_MEMBARS = frozenset({"cta", "gl", "sys", "proxy.alias"})


def fence(site: Site) -> Step:
    """`membar.level;`, `fence.order.scope;`, `fence.proxy.kind;`."""
    instruction = site.instruction
    form = ".".join(instruction.modifiers)
    if form not in (_FENCES if instruction.opcode == "fence" else _MEMBARS):
        site.unknown()
    name = f"{instruction.opcode}.{form}"
    if "tensormap" in form:
        return _fence_maps(site, name)
    site.operands(0)

    def step(batch: Batch) -> None:
        launch = batch.launch
        launch.fences[name] += len(batch.warps)
        launch.observer.fenced(batch, name)

    return step


def _fence_maps(site: Site, name: str) -> Step:
    """`fence.proxy.tensormap::generic.release.scope;`, `….acquire.scope [map], 128;`, of a map in global memory."""
    read = None
    if "acquire" in name:
        place, size = site.operands(2)
        read = address_reader(site, place, "generic")[1]
        if site.constant(size, "size of a tensor map") != MAP_BYTES:
            site.fail(f"a tensor map has {MAP_BYTES} bytes")
    else:
        site.operands(0)

    def step(batch: Batch) -> None:
        launch = batch.launch
        launch.fences[name] += len(batch.warps)
        if read is None:
            launch.observer.map_fenced(batch, name)
            return
        index = np.broadcast_to(read(batch), batch.mask.shape).astype(np.int64) - launch.memory.base
        inside = (launch.memory.states(index, MAP_BYTES) & ALLOCATED).astype(bool).all(axis=-1) & batch.mask
        if (batch.mask & ~inside).any():
            message = f"the fence is for {MAP_BYTES} bytes of a tensor map that are not all allocated global memory"
            batch.report("out-of-bounds", message, batch.mask & ~inside)
        if inside.any():
            maps = Region(launch.memory, index[inside], MAP_BYTES)
            launch.observer.map_fenced(batch.narrowed(inside), name, maps)

    return step


def _without_effect(operand_count: int, *forms: str) -> Callable[[Site], Step]:
    """A handler of instructions without effect that have one of these modifiers."""

    def handler(site: Site) -> Step:
        if ".".join(site.instruction.modifiers) not in forms:
            site.unknown()
        for operand in site.operands(operand_count):
            site.reader(operand, "u32")
        return lambda batch: None

    return handler


def set_registers(site: Site) -> Step:
    """`setmaxnreg.inc|dec.sync.aligned.u32 n;`: n is a multiple of 8 from 24 to 256."""
    if site.instruction.modifiers not in (("inc", "sync", "aligned", "u32"), ("dec", "sync", "aligned", "u32")):
        site.unknown()
    (operand,) = site.operands(1)
    count = site.constant(operand, "number of registers")
    if not 24 <= count <= 256 or count % 8:
        site.fail(f"setmaxnreg takes a multiple of 8 from 24 to 256, not {count}")
    return lambda batch: None


HANDLERS = {
    "fence": fence,
    "membar": fence,
    "nanosleep": _without_effect(1, "u32"),
    "griddepcontrol": _without_effect(0, "wait", "launch_dependents"),
    "brkpt": _without_effect(0, ""),
    "pmevent": _without_effect(1, "", "mask"),
    "setmaxnreg": set_registers,
}
