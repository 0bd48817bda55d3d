"""Fences, and instructions that only matter to time: `membar`, `fence`, `nanosleep`, `setmaxnreg`, `griddepcontrol`.

Memory is the same for all threads here, so that a fence changes no value; who observes the launch is told of it.
Source: PTX ISA, `membar`/`fence`, `nanosleep`, `setmaxnreg`, `griddepcontrol`, `brkpt`, `pmevent`.
"""

from collections.abc import Callable

from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.memory_form import SCOPES
from ptxsim.machine.site import Site

_ORDERS = ("sc", "acq_rel", "acquire", "release")
_PROXIES = ("alias", "async", "async.global", "async.shared::cta", "async.shared::cluster")
_FENCES = frozenset(
    SCOPES
    | {f"{order}.{scope}" for order in _ORDERS for scope in SCOPES}
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
    site.operands(0)

    def step(batch: Batch) -> None:
        launch = batch.launch
        launch.fences[name] += len(batch.warps)
        launch.observer.fenced(batch, name)

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
    "membar": fence,
    "nanosleep": _without_effect(1, "u32"),
    "griddepcontrol": _without_effect(0, "wait", "launch_dependents"),
    "brkpt": _without_effect(0, ""),
    "pmevent": _without_effect(1, "", "mask"),
    "setmaxnreg": set_registers,
}
