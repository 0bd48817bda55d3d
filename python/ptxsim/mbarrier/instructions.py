"""The `mbarrier` instructions: init, inval, arrive, arrive_drop, expect_tx, complete_tx, the waits, pending_count.

Lanes act on one object in the order of their numbers. `try_wait` gives false the first time that a lane finds its
phase incomplete, as if the time were over, so that who does not try again is found out; then it blocks the lane until
the phase is complete, or until nothing else can run (`time_outs`). `test_wait` never blocks. An object that is misused
is left as it is: that is reported, and a test of it is true, so that threads go on.

Source: PTX ISA 9.1 §9.7.13.15 (mbarrier).
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.machine.addresses import ADDRESSED_SPACES
from ptxsim.machine.cta import Batch, Read, Step, Wait, Write
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.site import Site
from ptxsim.mbarrier.barrier import PHASE_BITS, Barrier, pending_count
from ptxsim.mbarrier.groups import Group, objects_at
from ptxsim.mbarrier.objects import Awaited, Waiter
from ptxsim.parsing.syntax import Negated, Sink

_SCOPES = ("cta", "cluster")


@dataclass(frozen=True)
class _Form:
    """The modifiers behind the operation's name: its flags, whether it orders memory, and its state space."""

    flags: frozenset[str]
    ordered: bool
    space: str


def _form(site: Site, flags: tuple[str, ...] = (), orders: tuple[str, ...] = (), remote: bool = False) -> _Form:
    """`{.flag}{.order.scope}{.space}.b64`; `remote` says that `.shared::cluster` is one of the spaces."""
    words = list(site.instruction.modifiers[1:])
    spaces = ("shared", "shared::cta", "shared::cluster") if remote else ("shared", "shared::cta")
    found = {words.pop(0)} if words and words[0] in flags else set()
    order = ""
    if len(words) > 1 and words[0] in orders and words[1] in _SCOPES:
        order, scope = words[:2]
        del words[:2]
        if "noComplete" in found and (order, scope) != ("release", "cta"):
            site.unknown()
    space = ADDRESSED_SPACES[words.pop(0)] if words and words[0] in spaces else "generic"
    if words != ["b64"] or ("noComplete" in found and space == "shared::cluster"):
        site.unknown()
    return _Form(frozenset(found), order != "relaxed", space)


def _init(site: Site) -> Step:
    """`mbarrier.init{.space}.b64 [a], count;`."""
    operands = site.operands(2)
    objects = objects_at(site, operands[0], _form(site).space, "store")
    read = site.reader(operands[1], "u32")

    def initialise(group: Group, count: int) -> None:
        for lane in group.positions:
            one = group.only(lane)
            one.objects.init(group.offset, count, one.place)

    return objects.by_group(initialise, read)


def _invalidate(site: Site) -> Step:
    """`mbarrier.inval{.space}.b64 [a];`."""
    (operand,) = site.operands(1)
    return objects_at(site, operand, _form(site).space, "store").by_group(_end)


def _end(group: Group) -> None:
    for _ in group.positions:
        group.objects.invalidate(group.offset)


def _count_bytes(site: Site) -> Step:
    """`mbarrier.expect_tx|complete_tx{.relaxed.scope}{.space}.b64 [a], bytes;`."""
    operands = site.operands(2)
    objects = objects_at(site, operands[0], _form(site, orders=("relaxed",), remote=True).space, remote=True)
    expects = site.instruction.modifiers[0] == "expect_tx"

    def count(group: Group, size: int) -> None:
        for lane in group.positions:
            if expects:
                group.objects.expect_tx(group.offset, size, group.only(lane).place)
            else:
                group.objects.complete_tx(group.offset, size)

    return objects.by_group(count, site.reader(operands[1], "u32"))


def _arrive(site: Site) -> Step:
    """`mbarrier.arrive|arrive_drop{.expect_tx|.noComplete}{.order.scope}{.space}.b64 state|_, [a]{, count|bytes};`."""
    form = _form(site, ("expect_tx", "noComplete"), ("release", "relaxed"), remote=True)
    operands = site.operands(*((3,) if form.flags else (2, 3)))
    sink = isinstance(operands[0], Sink)
    if form.space == "shared::cluster" and not sink:
        site.fail("an arrival at an mbarrier of another CTA returns no state; write '_'")
    objects = objects_at(site, operands[1], form.space, remote=sink)
    read = site.reader(operands[2], "u32") if len(operands) == 3 else lambda batch: np.ones((1, 1), np.uint32)
    write = site.writer(operands[0], "b64")
    drop = site.instruction.modifiers[0] == "arrive_drop"

    def step(batch: Batch) -> None:
        states = np.zeros(batch.mask.size, np.uint64)
        for group in objects.groups(batch, read):
            _arrive_group(group, form, drop, states)
        write(batch, states.reshape(batch.mask.shape))

    return step


def _arrive_group(group: Group, form: _Form, drop: bool, states: np.ndarray) -> None:
    """Let the lanes arrive in order, as many at a time as can before the phase is complete."""
    (operand,) = group.operands
    done = 0
    try:
        while done < len(group.positions):
            together = 1
            if not form.flags and not drop and operand:
                together = max(1, group.objects.find(group.offset).barrier.pending // operand)
            now = group.only(group.positions[done : done + together])
            states[now.positions] = _arrived(now, operand, form, drop)
            done += together
    except Misuse as misuse:
        group.only(group.positions[done:]).report(misuse)


def _arrived(group: Group, operand: int, form: _Form, drop: bool) -> np.ndarray:
    """Let the lanes arrive together; return the state for each, after the arrivals of those before it."""
    group.arrived(relaxed=not form.ordered)
    expects, lanes = "expect_tx" in form.flags, len(group.positions)
    if expects:
        group.objects.expect_tx(group.offset, operand, group.place)
    count = 1 if expects else operand
    word = group.objects.arrive(group.offset, lanes * count, drop=drop, no_complete="noComplete" in form.flags)
    # The pending arrivals are the lowest bits of the word.
    return np.uint64(word) - np.uint64(count) * np.arange(lanes, dtype=np.uint64)


def _wait(site: Site) -> Step:
    """`mbarrier.test_wait|try_wait{.parity}{.order.scope}{.space}.b64 p, [a], state|parity{, hint};`."""
    form = _form(site, ("parity",), ("acquire", "relaxed"))
    blocks = site.instruction.modifiers[0] == "try_wait"
    operands = site.operands(*((3, 4) if blocks else (3,)))
    if isinstance(operands[0], Sink):
        site.fail("a register is expected for the result")
    parity = "parity" in form.flags
    objects, read = objects_at(site, operands[1], form.space), _phase(site, operands[2], parity)
    write = site.writer(operands[0], "pred")
    # Who never looks at the result does not know that the phase is complete.
    told, relaxed = _is_read(site, operands[0]), not form.ordered
    if len(operands) == 4:
        site.reader(operands[3], "u32")

    def step(batch: Batch) -> bool:
        results = np.ones(batch.mask.size, bool)
        early = [group for group in objects.groups(batch, read) if not _tested(group, parity, told, relaxed)]
        for group in early:
            results[group.positions] = False
        write(batch, results.reshape(batch.mask.shape))
        retries = [group.only(group.again()) for group in early]
        for group in early:
            group.note_test()
        waiting = [group for group in retries if blocks and len(group.positions)]
        if waiting:
            batch.proceed(site.index + 1)
        for group in waiting:
            _block(group, write, told, relaxed)
        return bool(waiting)

    return step


def _phase(site: Site, operand: object, parity: bool) -> Read:
    """The reader of the phase that is tested: its parity, or the bits of a state that say it."""
    read = site.reader(operand, "u32" if parity else "b64")
    return read if parity else lambda batch: read(batch) & np.uint64(PHASE_BITS)


def _is_read(site: Site, predicate: object) -> bool:
    """Whether any instruction of the kernel has a predicate register as its guard or as a source."""
    for instruction in site.code.instructions:
        guard = (instruction.guard.register,) if instruction.guard else ()
        for operand in (*guard, *instruction.operands[1:]):
            if predicate == (operand.register if isinstance(operand, Negated) else operand):
                return True
    return False


def _tested(group: Group, parity: bool, told: bool, relaxed: bool) -> bool:
    """Whether the phase that the lanes name is complete; they know it then."""
    (operand,) = group.operands
    try:
        barrier = group.objects.find(group.offset).barrier
        complete = barrier.is_parity_complete(operand) if parity else barrier.is_complete(operand)
    except Misuse as misuse:
        group.report(misuse)
        return True
    if complete and told:
        group.departed(relaxed)
    return complete


def _block(group: Group, write: Write, told: bool, relaxed: bool) -> None:
    there = group.batch.narrowed(group.mask)

    def finish(result: bool) -> None:
        write(there, np.full((1, 1), result))

    wait = Wait(there.cta.no_lanes(), group.at, Awaited(group.objects, group.offset))
    there.cta.block(there, group.at + 1, wait)
    group.objects.block(group.offset, Waiter(wait, finish, told, relaxed))


def _pending_count(site: Site) -> Step:
    """`mbarrier.pending_count.b64 count, state;`."""
    operands = site.operands(2)
    if site.instruction.modifiers[1:] != ("b64",):
        site.unknown()
    write, read = site.writer(operands[0], "u32"), site.reader(operands[1], "b64")

    def step(batch: Batch) -> None:
        states = np.broadcast_to(read(batch), batch.mask.shape)
        counts = np.zeros(batch.mask.shape, np.uint32)
        for state in np.unique(states[batch.mask]).tolist():
            lanes = batch.mask & (states == state)
            try:
                Barrier.of(state)
                counts[lanes] = pending_count(state)
            except Misuse:
                batch.report("uninitialized", f"{state:#x} is no state that an arrival at an mbarrier returned", lanes)
        write(batch, counts)

    return step


_OPERATIONS = {
    "init": _init,
    "inval": _invalidate,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "expect_tx": _count_bytes,
    "complete_tx": _count_bytes,
    "test_wait": _wait,
    "try_wait": _wait,
    "pending_count": _pending_count,
}


def mbarrier(site: Site) -> Step:
    """Compile an `mbarrier` instruction."""
    operation = _OPERATIONS.get(site.instruction.modifiers[0] if site.instruction.modifiers else "")
    if operation is None:
        site.unknown()
    return operation(site)


HANDLERS = {"mbarrier": mbarrier}
