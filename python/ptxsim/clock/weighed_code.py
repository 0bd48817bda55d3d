"""The code of a kernel where there is no ptxas: operations of its PTX, by the weights of their classes, and two bounds.

In: PTX, a kernel, a device. Out: `KernelCode`. Each instruction of the PTX becomes as many operations as its class has
slots; fractions are dealt out over the instructions of a class. Expected: a straight run is ordered as a compiler does
it, and takes what its slots stall in the mean, or its longest way of fixed latencies; what does not change in a loop is
left out. Lower bound: of that only what ptxas neither joins nor drops, one cycle each. Upper bound: nothing is left
out, and all have twice the mean slots. What comes at any time is waited for by a scoreboard; those that the same
instruction uses first share it. At the upper bound they take turns with the six that there are, else there are enough.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from ptxsim.clock.devices import Device
from ptxsim.clock.kernel_code import Flops, KernelCode
from ptxsim.clock.live_registers import estimated_registers, live_before
from ptxsim.clock.replay.operations import (
    BOARD_WAIT,
    COMMIT,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GROUP_WAIT,
    PLAIN,
    PRODUCT,
    SHARED_ACCESS,
    VARIABLE,
    WARPGROUP_WARPS,
    SassOperation,
    pipe_number,
)
from ptxsim.clock.replay.run_order import ScheduledInstruction, compiled_order, fixed_cycles
from ptxsim.clock.replay.weighed_operations import (
    flops_on,
    groups_left,
    interval_on,
    kind_of,
    latency_on,
    space_of,
    warpgroup_operand_bytes,
)
from ptxsim.clock.replay.weighed_stream import WeighedStreams
from ptxsim.clock.sass.class_weights import ClassWeight, class_weight
from ptxsim.clock.sass.control import SCOREBOARDS
from ptxsim.clock.sass.loop_invariants import kept_values, loop_invariants
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.clock.sass.resources import ResourceUse
from ptxsim.clock.sass.straight_runs import PtxRun, ptx_runs
from ptxsim.errors import InputError, PtxError, suggest
from ptxsim.kernels import kernels_of
from ptxsim.machine.site import Site

#: What `KernelCode.source` says of it.
WEIGHTS = "class weights"
#: The bounds, the expected one first.
BOUNDS = ("expected", "lower", "upper")
_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap", "call"})
#: What keeps its place among all that touches memory.
_KEPT = frozenset({"fence", "membar", "wgmma", "setmaxnreg"})
_MEMORY = {GLOBAL_LOAD: "load", SHARED_ACCESS: "load", GLOBAL_STORE: "store", PLAIN: "", VARIABLE: ""}
_WRITERS = frozenset({"st", "stmatrix", "red", "atom"})
#: Kinds whose results scoreboards tell.
_BOARDED = frozenset({GLOBAL_LOAD, SHARED_ACCESS, VARIABLE})
#: The scoreboard of groups of copies by threads: no other's.
_GROUP_BOARD = 1 << 30
_HALF = 0.5
#: Slots at the upper bound, of the mean ones: SASS of fast.cu's kernels has 0.99 to 1.28 of the PTX's instructions
#: where warps compute, 2 where they only start copies. Cycles that each slot beyond the mean takes.
_MOST_OF_MEAN, _MOVE_CYCLES = 2.0, 2.0


def weighed_code(ptx: str, kernel: str, device: Device, threads: int, bound: str = "expected") -> KernelCode:
    """The code of a kernel from its PTX alone; `threads` of a CTA, `bound` is one of `BOUNDS`.

    Raises:
        InputError: there is no such kernel.
        PtxError: the text is malformed, or the simulator does not know an instruction.
    """
    kernels = kernels_of(ptx)
    if kernel not in kernels.program.kernels:
        raise InputError(f"there is no kernel '{kernel}'{suggest(kernel, kernels.program.kernels)}")
    executable = kernels.compiled(kernel)
    if isinstance(executable, PtxError):
        raise executable
    graph = ptx_runs(executable.code)
    runs = graph.runs
    invariants = loop_invariants(executable.sites, graph, live_before(executable.sites))
    made = _Weigher(executable.sites, runs, device, bound, () if bound == "upper" else invariants)
    for run in runs:
        made.add(run)
    registers = estimated_registers(executable, kept_values(executable.sites, invariants), threads, device, bound)
    resources = ResourceUse(registers, 0, 0, 0, executable.code.shared_bytes, 0)
    run_of = [run.number for run in runs for _ in range(run.start, run.end)]
    streams = WeighedStreams(executable.code, made.operations, run_of, made.issued, made.main)
    return KernelCode(made.operations, made.flops, streams.stream, resources, (), WEIGHTS)


@dataclass(frozen=True)
class _WeighedInstruction:
    """An instruction: its kind and class, its slots and stall cycles at the bound, what its place depends on."""

    kind: int
    of_class: ClassWeight
    slots: float
    cycles: float
    plan: ScheduledInstruction


class _Weigher:
    """Operations as they come; `issued` has those of each run, in order, each as (instruction, operation)."""

    def __init__(
        self, sites: Sequence[Site], runs: Sequence[PtxRun], device: Device, bound: str, hoisted: Container[int]
    ) -> None:
        self.operations: list[SassOperation] = []
        self.flops: list[Flops] = []
        self.issued: list[list[tuple[int, int]]] = []
        self.main: dict[int, int] = {}
        self._sites, self._device, self._bound, self._hoisted = sites, device, bound, hoisted
        products = (site for site in sites if site.instruction.modifiers[:1] == ("mma_async",))
        self._accumulators = {slot for site in products for slot in site.writes}
        self._here = [self._weighed(site) for site in sites]
        self._board_of = self._boards(runs, SCOREBOARDS if bound == "upper" else 0)
        self._told_by = self._tellers()
        self._closing = {at for run in runs for at in self._closers(run)}
        self._due: dict[ClassWeight, float] = defaultdict(lambda: _HALF)

    def add(self, run: PtxRun) -> None:
        """Add the operations of a straight run."""
        here = self._here[run.start : run.end]
        plan = [each.plan for each in here]
        ends_with_jump = self._sites[run.end - 1].instruction.opcode in _JUMPS
        order = compiled_order(plan, ends_with_jump)
        stalls = sum(each.cycles for each in here)
        longer = max(1.0, fixed_cycles(plan, order) / stalls) if stalls else 1.0
        due, issued, waits = _HALF, [], set()
        for at in (run.start + place for place in order):
            due += self._here[at].cycles * longer
            told = (self._told_by.get(slot, ()) for slot in self._here[at].plan.reads)
            waits.update(board for boards in told for board in boards)
            ops = self._operations_of(at)
            for op in ops:
                stall = max(1, int(due))
                due -= stall
                issued.append((at, len(self.operations)))
                self.operations.append(op._replace(stall=stall, waits=tuple(sorted(waits))))
                waits.clear()  # what is no operation of its own waits with the next one
                self.flops.append(Flops(0.0, 0.0))
            if ops:
                self.main[at] = len(self.operations) - 1
                self.flops[-1] = Flops(*flops_on(self._sites[at].instruction))
        self.issued.append(issued)

    # --- what each instruction is -------------------------------------------------------------------------------------

    def _weighed(self, site: Site) -> _WeighedInstruction:
        each = site.instruction
        weight = class_weight(each, self._device.arch)
        kind = kind_of(each, weight)
        most = min(weight.most, _MOST_OF_MEAN * weight.slots)
        slots = {"lower": weight.least, "expected": weight.slots, "upper": most}[self._bound]
        slots = (0.0 if site.index in self._hoisted else slots) if kind == PLAIN else max(1.0, slots)
        own = min(slots, weight.slots)  # what comes on top are moves
        is_product = weight.pipe is Pipe.TENSOR and kind == PLAIN
        stall = 1.0 if is_product else weight.slot_cycles  # the pipe keeps products apart, others issue between them
        cycles = slots if self._bound == "lower" else own * stall + (slots - own) * _MOVE_CYCLES
        if kind in _BOARDED:
            latency = self._device.l2_latency if kind == GLOBAL_LOAD else latency_on(each, kind, self._device)
        else:
            latency = (weight.latency_cycles or 0) * min(1.0, slots)
        reads, writes = frozenset(site.reads), frozenset(site.writes)
        memory = self._memory(site, kind)
        interval = interval_on(each, weight.pipe, 1, self._device) if is_product else 0.0
        space, is_fixed = space_of(each), kind not in _BOARDED
        plan = ScheduledInstruction(reads, writes, memory, space, slots, latency, is_fixed, interval)
        return _WeighedInstruction(kind, weight, slots, cycles, plan)

    def _memory(self, site: Site, kind: int) -> str:
        """What an instruction is to the order of what touches memory, or waits."""
        each = site.instruction
        if each.opcode in _KEPT or each.opcode in _JUMPS or kind not in _MEMORY:
            return "fence"
        if kind != PLAIN and each.opcode in _WRITERS:
            return "store"
        # products stay between barriers, and what uses one of the warpgroup behind the wait for it
        is_kept = each.opcode in ("mma", "wmma") or site.reads & self._accumulators
        return _MEMORY[kind] or ("load" if is_kept else "")

    def _closers(self, run: PtxRun) -> Iterable[int]:
        """The last product before each end of a group; the end itself, where there is none in its run."""
        product: int | None = None
        for at in range(run.start, run.end):
            each = self._sites[at].instruction
            if each.opcode == "wgmma" and each.modifiers[:1] == ("mma_async",):
                product = at
            elif each.opcode == "wgmma" and each.modifiers[:1] == ("commit_group",):
                yield at if product is None else product
                product = None

    # --- scoreboards --------------------------------------------------------------------------------------------------

    def _boards(self, runs: Sequence[PtxRun], count: int) -> dict[int, int]:
        """The scoreboard of each instruction that has one, of `count`, 0 for as many as are asked for."""
        found: dict[int, int] = {}
        number: dict[tuple[int, int], int] = {}
        for run in runs:
            first_use: dict[int, int] = {}
            for at in range(run.end - 1, run.start - 1, -1):
                each = self._here[at]
                used = min((first_use.get(slot, run.end) for slot in each.plan.writes), default=run.end)
                if each.kind in _BOARDED and each.plan.writes:
                    found[at] = used
                first_use.update(dict.fromkeys(each.plan.reads, at))
            for at in sorted(at for at in found if run.start <= at < run.end):
                key = run.number, found[at]
                found[at] = number.setdefault(key, len(number) % count if count else len(number))
        return found

    def _tellers(self) -> dict[int, frozenset[int]]:
        """The scoreboards that tell when a register is there."""
        found: dict[int, frozenset[int]] = {}
        for at, board in self._board_of.items():
            for slot in self._here[at].plan.writes:
                found[slot] = found.get(slot, frozenset()) | {board}
        return found

    # --- operations ---------------------------------------------------------------------------------------------------

    def _operations_of(self, at: int) -> list[SassOperation]:
        """The operations of an instruction: those of its own pipe are the last ones, its events are the last one's."""
        each, here, device = self._sites[at].instruction, self._here[at], self._device
        weight, kind = here.of_class, here.kind
        if each.opcode == "wgmma" and each.modifiers[:1] == ("commit_group",) and at in self._closing:
            return [_operation(PRODUCT, Pipe.TENSOR, 0.0, each.line, ends_group=True)]
        self._due[weight] += here.slots
        count = max(0 if kind == PLAIN else 1, int(self._due[weight]))
        self._due[weight] -= count
        own = min(count, int(weight.least) or count)
        plain = _operation(PLAIN, Pipe.ALU, float(device.alu_interval), each.line)
        interval = interval_on(each, weight.pipe, max(1, int(weight.least)), device)
        ops = [plain] * (count - own) + [_operation(PLAIN, weight.pipe, interval, each.line)] * own
        if ops and kind != PLAIN:
            ops[-1] = self._acting(ops[-1], at)
        if ops and kind == BOARD_WAIT and "wait_all" in each.modifiers:
            ops.insert(-1, plain._replace(kind=COMMIT, write=_GROUP_BOARD))
        return ops

    def _acting(self, op: SassOperation, at: int) -> SassOperation:
        """The operation of an instruction that does more than to compute."""
        each, kind = self._sites[at].instruction, self._here[at].kind
        op = op._replace(kind=kind, write=self._board_of.get(at, -1), latency=latency_on(each, kind, self._device))
        if kind == PRODUCT:
            closes, shared = at in self._closing, warpgroup_operand_bytes(each) / WARPGROUP_WARPS
            return op._replace(ends_group=closes, shared_bytes=shared)
        if kind == GROUP_WAIT:
            return op._replace(count=groups_left(each))
        if kind == BOARD_WAIT:
            return op._replace(count=groups_left(each), board=_GROUP_BOARD)
        return op._replace(write=_GROUP_BOARD) if kind == COMMIT else op


def _operation(kind: int, pipe: Pipe, interval: float, line: int, ends_group: bool = False) -> SassOperation:
    return SassOperation(kind, 1, (), -1, -1, pipe_number(pipe), interval, 0.0, line, ends_group=ends_group)
