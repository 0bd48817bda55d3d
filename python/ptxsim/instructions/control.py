"""Where threads go: `bra`, `brx.idx`, `call`, `ret`, `exit`, `trap`. Source: PTX ISA, "Control Flow Instructions"."""

import numpy as np

from ptxsim.instructions.system_calls import system_call
from ptxsim.machine.cta import Batch, Cta, Step
from ptxsim.machine.flow import Flow
from ptxsim.machine.site import Site
from ptxsim.memory.windows import LOCAL_START
from ptxsim.parsing.syntax import Arguments, BranchTable, BranchTarget, FunctionAddress, Location, Sink, Slot


def branch(site: Site) -> Step:
    """`bra{.uni} target;`: the guard is this instruction's own, so that each lane has its way."""
    instruction = site.instruction
    if instruction.modifiers not in ((), ("uni",)):
        site.unknown()
    (target,) = site.operands(1)
    if not isinstance(target, BranchTarget):
        site.fail("a label is expected")
    there, following = target.index, site.index + 1
    site.targets.add(there)
    if instruction.guard is None:
        site.falls_through = False

        def jump(batch: Batch) -> bool:
            batch.proceed(there)
            return True

        return jump
    read, negated = site.reader(instruction.guard.register, "pred"), instruction.guard.negated
    site.decides(instruction.guard.register, "the condition of a branch")

    def step(batch: Batch) -> bool:
        taken = read(batch)
        batch.split(~taken if negated else taken, there, following)
        return True

    return step


def branch_indexed(site: Site) -> Step:
    """`brx.idx{.uni} index, table;`."""
    index, table = site.operands(2)
    if site.instruction.modifiers not in (("idx",), ("idx", "uni")) or not isinstance(table, BranchTable):
        site.unknown()
    read, places = site.reader(index, "u32"), np.array(table.indices)
    site.targets.update(table.indices)
    site.falls_through = site.instruction.guard is not None

    def step(batch: Batch) -> bool:
        numbers = np.broadcast_to(read(batch), batch.mask.shape).astype(np.int64)
        wrong = batch.mask & (numbers >= len(places))
        if wrong.any():
            batch.report("out-of-bounds", f"index beyond the {len(places)} targets of '{table.name}'", wrong)
        batch.cta.diverge()
        batch.update(batch.cta.pc, places[np.minimum(numbers, len(places) - 1)])
        return True

    return step


def call(site: Site) -> Step:
    """`call{.uni} (returns), function, (arguments){, targets};`: parameters are copied in, and results by `ret`."""
    operands = site.instruction.operands
    if site.instruction.modifiers not in ((), ("uni",)) or len(operands) < 3:
        site.unknown()
    returns, callee, arguments = operands[:3]
    if not isinstance(callee, FunctionAddress):
        site.fail("calls through a register are not modelled")
    routine = site.code.routines[callee.name]
    if routine.start < 0:
        known = system_call(site)
        return known or site.fail(f"function '{callee.name}' has no body in this module")
    if routine.recursive:
        site.fail(f"function '{callee.name}' calls itself, which is not modelled")
    site.reads.update(each.index for each in _items(arguments) if isinstance(each, Slot))
    copies_in = _copies(site, site.flows, _items(arguments), _flat(routine.parameters))
    site.after_return = _copies(site, site.return_flows, _flat(routine.returns), _items(returns))
    site.targets.add(routine.start)
    following = site.index + 1

    def step(batch: Batch) -> bool:
        copies_in(batch)
        batch.cta.diverge()
        _push(batch, following)
        batch.proceed(routine.start)
        return True

    return step


def _items(operand: object) -> tuple:
    return operand.items if isinstance(operand, Arguments) else ()


def _flat(places: tuple) -> tuple:
    """The places of parameters, a vector in registers as its lanes."""
    return tuple(each for place in places for each in (place if isinstance(place, tuple) else (place,)))


def _copies(site: Site, flows: list[Flow], sources: tuple, targets: tuple) -> Step:
    """The copy of each source (register, constant or variable in the parameter frame) to its target."""
    if len(sources) != len(targets):
        site.fail(f"{len(targets)} parameters are expected, not {len(sources)}")
    flows += [Flow((source,), (target,)) for source, target in zip(sources, targets, strict=True)]
    moves = [_move(site, source, target) for source, target in zip(sources, targets, strict=True)]

    def step(batch: Batch) -> None:
        for move in moves:
            move(batch)

    return step


def _move(site: Site, source: object, target: object) -> Step:
    if isinstance(target, Sink):
        return lambda batch: None
    if isinstance(target, Slot):
        read = site.copier(source, target.type) if isinstance(source, Slot) else site.reader(source, target.type)
        write = site.writer(target, target.type)
        return lambda batch: write(batch, read(batch))
    if not isinstance(target, Location):
        site.fail("a register or a parameter is expected")
    if isinstance(source, Location):
        size = min(source.variable.size, target.variable.size)
        start, end = source.offset, target.offset
        return lambda batch: _copy_bytes(batch, start, end, size)
    site.fail(f"parameter '{target.variable.name}' is in memory; a register cannot be given for it")


def _copy_bytes(batch: Batch, source: int, target: int, size: int) -> None:
    """Copy bytes of each lane's parameter frame."""
    memory = batch.cta.parameters
    stride = batch.launch.stride_of["param::func"]
    first = batch.threads[batch.mask] * stride + LOCAL_START
    places = first[:, None] + np.arange(size)
    memory.data[places + target] = memory.data[places + source]
    memory.state[places + target] = memory.state[places + source]


def _push(batch: Batch, following: int) -> None:
    """Remember where the lanes of `batch` go on when they return."""
    cta = batch.cta
    depth = int(batch.select(cta.depth)[batch.mask].max())
    while len(cta.stack) <= depth:
        cta.stack.append(np.zeros(cta.exists.shape, np.int64))
    for level in np.unique(batch.select(cta.depth)[batch.mask]).tolist():
        lanes = batch.narrowed(batch.mask & (batch.select(cta.depth) == level))
        lanes.update(cta.stack[level], following)
    batch.update(cta.depth, batch.select(cta.depth) + 1)


def leave(site: Site) -> Step:
    """`ret{.uni};`: back to the call, or the end of the thread."""
    if site.instruction.modifiers not in ((), ("uni",)):
        site.unknown()
    site.operands(0)
    site.falls_through = site.instruction.guard is not None
    _return_results(site)

    def step(batch: Batch) -> bool:
        cta = batch.cta
        if not cta.stack:
            cta.exit(batch)
            return True
        cta.diverge()
        deep = batch.mask & (batch.select(cta.depth) > 0)
        if (batch.mask & ~deep).any():
            cta.exit(batch.narrowed(batch.mask & ~deep))
        if deep.any():
            _return(cta, batch.narrowed(deep))
        return True

    return step


def _return_results(site: Site) -> None:
    """Note that the registers of the function's results are read, and handed on."""
    for routine in site.code.routines.values():
        if routine.start <= site.index < routine.end:
            results = tuple(place for place in _flat(routine.returns) if isinstance(place, Slot))
            site.reads.update(place.index for place in results)
            site.passes_on(results, ())


def _return(cta: Cta, batch: Batch) -> None:
    batch.update(cta.depth, batch.select(cta.depth) - 1)
    depths = batch.select(cta.depth)
    for level in np.unique(depths[batch.mask]).tolist():
        back = batch.select(cta.stack[level])
        for place in np.unique(back[batch.mask & (depths == level)]).tolist():
            lanes = batch.narrowed(batch.mask & (depths == level) & (back == place))
            cta.after_return[place - 1](lanes)
            lanes.update(cta.pc, place)


def end(site: Site) -> Step:
    """`exit;`: the end of the thread."""
    if site.instruction.modifiers:
        site.unknown()
    site.operands(0)
    site.falls_through = site.instruction.guard is not None

    def step(batch: Batch) -> bool:
        batch.cta.exit(batch)
        return True

    return step


def trap(site: Site) -> Step:
    """`trap;`: an abort of the launch: the kernel says that something is wrong."""
    if site.instruction.modifiers:
        site.unknown()
    site.operands(0)
    site.falls_through = site.instruction.guard is not None

    def step(batch: Batch) -> bool:
        batch.report("trap", "the kernel aborts itself with a trap")
        batch.cta.exit(batch)
        return True

    return step


HANDLERS = {"bra": branch, "brx": branch_indexed, "call": call, "ret": leave, "exit": end, "trap": trap}
#: Instructions that end a batch's straight run: those that follow them start one.
CONTROL = frozenset({*HANDLERS, "bar", "barrier"})
