"""The SASS of a kernel → what each line of its PTX costs. Checked: the lines of a run sum to what its SASS has.

In: the flat code of a kernel, the functions of a disassembly. Out: the lines, runs and leftovers of a `KernelCost`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ptxsim.clock.sass.anchor_lines import anchor_lines
from ptxsim.clock.sass.homes import Homes, find_homes
from ptxsim.clock.sass.line_costs import LineCost, RunCost, RunVariant, ScoreboardWait, TensorWork, UnchargedSass
from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.multiplicity import anchors_of_executions
from ptxsim.clock.sass.pipes import Rank, fixed_latency, pipe_of, rank_of, tensor_shape
from ptxsim.clock.sass.scoreboards import waited_for
from ptxsim.clock.sass.straight_runs import PtxRun, PtxRuns

#: Where a function starts among the instructions of the kernel, and the index in it: what is charged.
_Place = tuple[int, int]


@dataclass(frozen=True)
class Attribution:
    """The costs of lines, averaged (`lines`) and where most copies are (`hot`), the runs, what is charged to none."""

    lines: dict[int, LineCost]
    hot: dict[int, LineCost]
    runs: tuple[RunCost, ...]
    uncharged: tuple[UnchargedSass, ...]
    moved: int


class AttributionMismatch(RuntimeError):
    """A defect of the attribution: the lines do not sum to the SASS of the kernel."""


def attribute(runs: PtxRuns, functions: tuple[SassFunction, ...]) -> Attribution:
    """The attribution of the functions of a kernel, its own first.

    Raises:
        AttributionMismatch: the lines do not sum to what the SASS has; a defect of this package.
    """
    charging = _Charging(runs, functions)
    costs = [charging.run(run) for run in runs.runs]
    lines = {line: cost for run in runs.runs for line, cost in charging.lines_of(run, costs[run.number].copies)}
    hot = {line: cost for run in costs for line, cost in _hot(run)}
    found = Attribution(lines, hot, tuple(costs), charging.uncharged(), sum(len(each.moved) for each in charging.homes))
    _check(runs, functions, found, charging)
    return found


def _hot(run: RunCost) -> Iterable[tuple[int, LineCost]]:
    """Yield the costs of the first variant, and of those with other lines: parts of the same copies."""
    seen: set[int] = set()
    for variant in run.variants:
        fresh = variant.costs.keys() - seen
        if 2 * len(fresh) > len(variant.costs):
            yield from ((line, variant.costs[line]) for line in sorted(fresh))
            seen |= fresh


def _check(runs: PtxRuns, functions: tuple[SassFunction, ...], found: Attribution, charging: "_Charging") -> None:
    everything = [each for function in functions for each in function.instructions]
    slots = sum(each.slots_total for each in found.lines.values()) + sum(each.slots for each in found.uncharged)
    stalls = sum(each.stall_total for each in found.lines.values())
    stalls += sum(each.stall_cycles for each in found.uncharged)
    expected = (len(everything), sum(each.control.issue_cycles for each in everything))
    if (slots, stalls) != expected:
        raise AttributionMismatch(
            f"the lines have {slots:g} slots and {stalls:g} stall cycles, the SASS has {expected}"
        )
    for run in runs.runs:
        listed = sum(len(charging.of_line[line]) for line in run.lines)
        variants = sum(len(each.instructions) for each in found.runs[run.number].variants)
        if listed != variants:
            raise AttributionMismatch(
                f"run {run.number}, lines {run.lines[:1]} …: {listed} instructions, {variants} in variants"
            )


class _Charging:
    """The instructions of each line, and what they make of a run."""

    def __init__(self, runs: PtxRuns, functions: tuple[SassFunction, ...]) -> None:
        self.functions = functions
        self._depth = runs.graph.depth
        #: How many instructions of an execution of a line have the same opcode, for nearly all 1.
        self._alike = {
            line: max(Counter(each.opcode for each in here if each.opcode != "bra").values(), default=1)
            for line, here in runs.on_line.items()
        }
        self.homes: list[Homes] = []
        self._lines: list[list[int]] = []
        self._waits: list[tuple[tuple[int, ...], ...]] = []
        self.of_line: dict[int, list[_Place]] = defaultdict(list)
        for number, function in enumerate(functions):
            lines = anchor_lines(runs, function)
            homes = find_homes(runs, function, lines)
            for line, times in anchors_of_executions(runs, function, lines).items():
                self._alike[line] *= max(1, times)
            self._lines.append(lines)
            self.homes.append(homes)
            self._waits.append(waited_for(function))
            for index, line in enumerate(homes.charged):
                if line:
                    self.of_line[line].append((number, index))

    def _at(self, place: _Place) -> SassInstruction:
        return self.functions[place[0]].instructions[place[1]]

    def _is_own(self, place: _Place) -> bool:
        return place[1] not in self.homes[place[0]].moved

    def run(self, run: PtxRun) -> RunCost:
        """The copies of a run, and its variants, the one with the most copies first."""
        places = sorted(place for line in run.lines for place in self.of_line[line])
        groups: dict[tuple[int, int, int | None], list[_Place]] = defaultdict(list)
        for number, index in places:
            homes, block = self.homes[number], self.functions[number].instructions[index].block
            groups[number, homes.depth[block], homes.loop[block]].append((number, index))
        variants = [self._variant(run, *key, members) for key, members in groups.items()]
        depth = self._depth(run.number)
        variants.sort(key=lambda each: (-each.copies, _is_spin(each, depth), -each.depth, each.instructions[0].address))
        return RunCost(run.number, run.lines, self._copies(run, places), tuple(variants))

    def _variant(self, run: PtxRun, number: int, depth: int, loop: int | None, members: list[_Place]) -> RunVariant:
        copies = self._copies(run, members)
        chosen = set(members)
        here = {line: [each for each in self.of_line[line] if each in chosen] for line in run.lines}
        costs = {line: self._cost(line, places, copies) for line, places in here.items() if places}
        code = tuple(self._at(place) for place in members)
        blocks = tuple(sorted({each.block for each in code}))
        return RunVariant(run.number, copies, loop, depth, self.functions[number].name, blocks, code, costs)

    def lines_of(self, run: PtxRun, copies: int) -> Iterable[tuple[int, LineCost]]:
        """Yield the lines of a run that cost something, averaged over all copies."""
        for line in run.lines:
            if self.of_line[line]:
                yield line, self._cost(line, self.of_line[line], copies)

    def _copies(self, run: PtxRun, places: list[_Place]) -> int:
        """On what the anchors of a run agree, the counts of its lines: the most frequent one, the least of these.

        Those that are never merged tell alone where there are any, else loads, stores and arithmetic together. Outside
        of loops a block executes a run once: its copies are the blocks that have it, and arithmetic tells nothing.
        """
        once = self._depth(run.number) == 0
        for least in (Rank.SINGLE, Rank.MERGED if once else Rank.ARITHMETIC):
            told = [each for each in places if self._is_own(each) and rank_of(self._at(each)) >= least]
            if once:
                told = list({(self._kind(each), each[0], self._at(each).block): each for each in told}.values())
            if told:
                counts = Counter(map(self._kind, told)).items()
                frequent = Counter(max(1, count // (1 if once else self._alike[line])) for (line, _), count in counts)
                return min(frequent, key=lambda count: (-frequent[count], count))
        return 1

    def _kind(self, place: _Place) -> tuple[int, str]:
        """The line that is charged and the opcode: a line of inline assembly may have several instructions."""
        return self.homes[place[0]].charged[place[1]], self._at(place).opcode

    def _cost(self, line: int, places: list[_Place], copies: int) -> LineCost:
        code = [self._at(place) for place in places]
        own = [place for place in places if self._is_own(place)] or places
        first = self._first_copy(own, copies)
        work = Counter((each.name, tensor_shape(each)) for each in code if pipe_of(each) == "tensor")
        waits: dict[ScoreboardWait, None] = {}
        for number, index in places:
            for setter in self._waits[number][index]:
                by = self._lines[number][setter if setter >= 0 else -1 - setter]
                waits[ScoreboardWait(by, setter < 0)] = None
        last = self._at(first[-1])
        return LineCost(
            line=line,
            copies=copies,
            slots_total=len(code),
            stall_total=sum(each.control.issue_cycles for each in code),
            pipe_totals=dict(sorted(Counter(pipe_of(each) for each in code).items())),
            tensor=tuple(TensorWork(name, shape, count / copies) for (name, shape), count in work.items()),
            sequence=tuple(self._at(place) for place in first),
            scoreboarded=any(self._at(place).control.write_scoreboard is not None for place in own),
            waits=tuple(each for each in waits if each.line),
            latency_cycles=fixed_latency(last),
        )

    def _first_copy(self, own: list[_Place], copies: int) -> list[_Place]:
        """The instructions of a line up to the anchors of its first copy, or its share of them where it has none."""
        anchors = [count for count, place in enumerate(own) if rank_of(self._at(place)) >= Rank.MERGED]
        share = -(-len(anchors or own) // copies)
        return own[: anchors[share - 1] + 1 if anchors else share]

    def uncharged(self) -> tuple[UnchargedSass, ...]:
        """What no line is charged for, by reason."""
        slots: Counter[str] = Counter()
        stalls: Counter[str] = Counter()
        for function, homes in zip(self.functions, self.homes, strict=True):
            for index, reason in homes.reasons.items():
                slots[reason] += 1
                stalls[reason] += function.instructions[index].control.issue_cycles
        return tuple(UnchargedSass(reason, slots[reason], stalls[reason]) for reason in sorted(slots))


def _is_spin(variant: RunVariant, depth: int) -> bool:
    """Whether a waiting warp spins in it, behind a first test that has failed; `depth` is the run's in loops."""
    tests = (each for each in variant.instructions if each.opcode == "SYNCS" and "PHASECHK" in each.modifiers)
    return variant.depth == depth > 0 and any(tests)
