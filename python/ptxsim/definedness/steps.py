"""Steps that know which registers hold undefined values: for the instructions that touch tracked registers only.

In: an instruction's step, its `Site` and the `Assignment` of the kernel. Out: the step with the checks of what an
undefined value must not decide (an address, a branch, a guard, a barrier, what global memory holds), and with the flow
of undefined values into its results. The state is `Cta.written`: for each tracked register the lanes in which it is
defined.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.definedness.assignment import Assignment
from ptxsim.machine.cta import Act, Batch, Step
from ptxsim.machine.flow import DEFINED, Flow, every, slot_of
from ptxsim.machine.site import Site

ReadState = Callable[[Batch], np.ndarray]
_NAMED_ORIGINS = 3


class Definedness:
    """Instruments the instructions of one kernel."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._tracked = assignment.tracked

    def step(self, site: Site, step: Step) -> Step:
        """The instruction with its checks before it and with the states of its results after it."""
        if self._tracked.isdisjoint(site.reads | site.writes | _slots(site.return_flows)):
            return step
        if site.after_return is not None:
            site.after_return = _before(self._transfers(site.return_flows, frozenset()), site.after_return)
        if site.step_with_states is not None and not self._tracked.isdisjoint(_slots(site.flows, targets=False)):
            step = site.step_with_states([self.state(source) for flow in site.flows for source in flow.sources])
        transfers = self._transfers(site.flows, site.writes - _slots(site.return_flows))
        if site.converges and transfers:
            site.when_converged = _in_turn(transfers)
            transfers = []
        return _before([*self._checks(site), *transfers], step)

    def guard(self, site: Site, step: Step) -> Step:
        """A guarded instruction with the check of its guard; a branch looks at its own."""
        slot = site.guard_slot
        if slot is None or slot not in self._tracked or slot in site.roles:
            return step
        return _before([self._check(site, slot, "the guard of an instruction")], step)

    def state(self, operand: object) -> ReadState:
        """The reader of the lanes in which an operand is defined."""
        slot = slot_of(operand)
        if slot is None or slot not in self._tracked:
            return lambda batch: DEFINED
        return lambda batch: batch.select(batch.cta.written[slot])

    def _checks(self, site: Site) -> list[Act]:
        passed_on = _slots(site.flows, targets=False)
        default = f"an operand of '{site.instruction.opcode}'"
        roles = dict.fromkeys(site.reads - passed_on - {site.guard_slot}, default) | site.roles
        return [self._check(site, slot, roles[slot]) for slot in sorted(roles) if slot in self._tracked]

    def _check(self, site: Site, slot: int, role: str) -> Act:
        message = f"register '{site.register_name(slot)}' is used as {role} and {self._reason(site, slot)}"

        def check(batch: Batch) -> None:
            written = batch.cta.written[slot]
            missing = batch.mask & ~batch.select(written)
            if missing.any():
                batch.report("uninitialized", message, missing)
                batch.narrowed(missing).update(written, True)

        return check

    def _reason(self, site: Site, slot: int) -> str:
        if slot in self._assignment.unsure:
            return "was never written"
        names = [f"'{site.register_name(each)}'" for each in self._assignment.unsure_origins(slot)]
        names = names or ["local memory"]
        if len(names) > _NAMED_ORIGINS:
            names = [*names[:_NAMED_ORIGINS], "…"]
        return f"comes from {' or '.join(names)}, which was never written"

    def _transfers(self, flows: Sequence[Flow], writes: "set[int] | frozenset[int]") -> list[Act]:
        """The updates of the states of tracked registers: by `flows`, and to defined for the rest of `writes`."""
        plain = sorted((writes - _slots(flows, sources=False)) & self._tracked)
        transfers = [_set_defined(slot) for slot in plain]
        computed = [each for flow in flows if (each := self._transfer(flow)) is not None]
        return [*transfers, *([_at_once(computed)] if len(computed) > 1 else [_alone(*each) for each in computed])]

    def _transfer(self, flow: Flow) -> tuple[ReadState, list[int]] | None:
        slots = [slot for target in flow.targets if (slot := slot_of(target)) in self._tracked and slot is not None]
        if not slots:
            return None
        reached = [source for source in flow.sources if self._is_reached(source)]
        if not reached:
            return (lambda batch: DEFINED), slots
        rule, states = flow.rule, [self.state(source) for source in (reached if flow.rule is every else flow.sources)]
        if rule is every and len(states) == 1:
            return states[0], slots
        if rule is every and len(states) == 2:
            first, second = states
            return (lambda batch: first(batch) & second(batch)), slots
        return (lambda batch: rule(batch, [state(batch) for state in states])), slots

    def _is_reached(self, source: object) -> bool:
        return source in self._assignment.origins if isinstance(source, str) else slot_of(source) in self._tracked


def _slots(flows: Sequence[Flow], sources: bool = True, targets: bool = True) -> set[int]:
    found: set[int] = set()
    for flow in flows:
        operands = (*(flow.sources if sources else ()), *(flow.targets if targets else ()))
        found.update(slot for slot in map(slot_of, operands) if slot is not None)
    return found


def _set_defined(slot: int) -> Act:
    return lambda batch: batch.write(batch.cta.written[slot], DEFINED)


def _alone(state: ReadState, slots: list[int]) -> Act:
    def act(batch: Batch) -> None:
        result = state(batch)
        for slot in slots:
            batch.write(batch.cta.written[slot], result)

    return act


def _at_once(transfers: list[tuple[ReadState, list[int]]]) -> Act:
    """The transfers that look at all states before they change one."""

    def act(batch: Batch) -> None:
        results = [(state(batch).copy(), slots) for state, slots in transfers]
        for result, slots in results:
            for slot in slots:
                batch.write(batch.cta.written[slot], result)

    return act


def _in_turn(acts: list[Act]) -> Act:
    def act(batch: Batch) -> None:
        for each in acts:
            each(batch)

    return act


def _before(acts: list[Act], step: Step) -> Step:
    """The step with what is done before it."""
    if not acts:
        return step
    if len(acts) == 1:
        (only,) = acts

        def after_one(batch: Batch) -> bool | None:
            only(batch)
            return step(batch)

        return after_one
    first = _in_turn(acts)

    def after_all(batch: Batch) -> bool | None:
        first(batch)
        return step(batch)

    return after_all
