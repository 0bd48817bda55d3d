"""Fences, and instructions that only matter to time: `membar`, `fence`, `nanosleep`, `setmaxnreg`, `griddepcontrol`.

Memory is the same for all threads here, so that a fence changes no value; who observes the launch is told of it.
Source: PTX ISA, `membar`/`fence`, `nanosleep`, `setmaxnreg`, `griddepcontrol`, `brkpt`, `pmevent`.
"""

from tinyc.simulator.engine.addresses import address
from tinyc.simulator.engine.instructions import cluster_barrier
from tinyc.simulator.engine.site import Site, Step
from tinyc.simulator.memory.arguments import MAP_BYTES
from tinyc.simulator.syntax import Immediate

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
_MEMBARS = frozenset({"cta", "gl", "sys", *(f"proxy.{kind}" for kind in _PROXIES)})


def fence(site: Site) -> Step:
    """`membar.level;`, `fence.order.scope;`, `fence.proxy.kind;`."""
    instruction = site.instruction
    form = ".".join(instruction.modifiers)
    if form not in (_FENCES if instruction.opcode == "fence" else _MEMBARS):
        site.unknown()
    _check_operands(site, "tensormap" in form and "acquire" in form)
    name = f"{instruction.opcode}.{form}"
    releases_cluster = not {"proxy", "acquire", "cta"} & set(instruction.modifiers)

    def step(batch):
        launch = batch.launch
        launch.fences[name] = launch.fences.get(name, 0) + len(batch.warps)
        launch.observer.fenced(batch, name)
        if releases_cluster:
            cluster_barrier.note_fence(batch)

    return step


def _check_operands(site: Site, of_map: bool) -> None:
    """Check that the fence has no operands, or those of the fence that acquires a tensor map: `[map], 128`."""
    operands = site.instruction.operands
    if not of_map and not operands:
        return
    size = operands[1] if of_map and len(operands) == 2 else None
    if not isinstance(size, Immediate) or size.value != MAP_BYTES:
        site.fail(f"a fence has no operands, but for '[map], {MAP_BYTES}' where it acquires a tensor map")
    address(site, operands[0], "generic")


def _only(*forms: str):
    """Return a handler of instructions without effect that have one of these modifiers."""

    def handler(site: Site) -> Step:
        if ".".join(site.instruction.modifiers) not in forms:
            site.unknown()
        for operand in site.instruction.operands:
            site.reader(operand, "u32")
        return lambda batch: None

    return handler


def set_registers(site: Site) -> Step:
    """`setmaxnreg.inc|dec.sync.aligned.u32 n;`: n is a multiple of 8 from 24 to 256."""
    words, operands = site.instruction.modifiers, site.instruction.operands
    if words not in (("inc", "sync", "aligned", "u32"), ("dec", "sync", "aligned", "u32")):
        site.unknown()
    if len(operands) != 1 or not isinstance(operands[0], Immediate):
        site.fail("a constant number of registers is expected")
    count = int(operands[0].value)
    if not 24 <= count <= 256 or count % 8:
        site.fail(f"setmaxnreg takes a multiple of 8 from 24 to 256, not {count}")
    return lambda batch: None


HANDLERS = {
    "fence": fence,
    "membar": fence,
    "nanosleep": _only("u32"),
    "griddepcontrol": _only("wait", "launch_dependents"),
    "brkpt": _only(""),
    "pmevent": _only("", "mask"),
    "setmaxnreg": set_registers,
}
