"""What a loop of the PTX computes anew in each round though it is always the same, and ptxas computes once, before it.

In: the sites of a kernel, its straight runs, what is live. Out: such instructions. Compilers have moved out what they
can but where an inner loop is between: ptxas unrolls that if its rounds are counted by constants, and then what depends
on its counter, but on nothing that changes from round to round of the outer one, moves out.
"""

from collections.abc import Mapping, Sequence
from math import prod

from ptxsim.clock.sass.straight_runs import PtxRun, PtxRuns
from ptxsim.machine.site import Site
from ptxsim.parsing.syntax import Immediate

#: Instructions that compute something from their operands alone.
_PURE_TEXT = (
    "abs add and bfe bfi clz cvt cvta lop3 mad max min mov mul mul24 neg not or popc prmt selp set setp shf shl shr "
    "slct sub xor"
)
_PURE = frozenset(_PURE_TEXT.split())
#: The most rounds of a loop that is unrolled as a whole. Assumed.
_UNROLLED = 8


def loop_invariants(sites: Sequence[Site], runs: PtxRuns, live: Sequence[int]) -> Mapping[int, int]:
    """The instructions, by index → how many values each has by then: one for each round of what is unrolled.

    `live` has the registers that are live before each instruction, as bits.
    """
    loops = runs.graph.loops
    bodies = {head: [run for run in runs.runs if head in loops[run.number]] for each in loops for head in each}
    rounds = {head: _rounds(sites, body) for head, body in bodies.items()}
    found: dict[int, int] = {}
    for head, body in sorted(bodies.items()):
        places = [at for run in body for at in range(run.start, run.end)]
        carried = live[runs.runs[head].start]
        changing = {slot for at in places for slot in sites[at].writes if carried >> slot & 1}
        before = -1
        while len(changing) > before:
            before = len(changing)
            for at in places:
                if not _is_pure(sites[at]) or not sites[at].reads.isdisjoint(changing):
                    changing |= sites[at].writes
        for run in body:
            inner = [rounds[each] for each in loops[run.number] if each != head and head in loops[each]]
            if inner and all(inner):
                here = (at for at in range(run.start, run.end) if _is_pure(sites[at]) and sites[at].writes)
                fixed = (at for at in here if changing.isdisjoint(sites[at].reads | sites[at].writes))
                found.update((at, max(prod(inner), found.get(at, 1))) for at in fixed)
    return found


def kept_values(sites: Sequence[Site], invariants: Mapping[int, int]) -> int:
    """How many values have to be kept while a loop runs since an inner one is unrolled: what others use."""
    used = {slot for site in sites if site.index not in invariants for slot in site.reads}
    return sum(count for at, count in invariants.items() if sites[at].writes & used)


def _is_pure(site: Site) -> bool:
    each = site.instruction
    return each.opcode in _PURE or (each.opcode == "ld" and "param" in each.modifiers)


def _rounds(sites: Sequence[Site], body: Sequence[PtxRun]) -> int:
    """The rounds of a loop that is unrolled: its counter goes by constants from one to another; else 0."""
    places = {at for run in body for at in range(run.start, run.end)}
    guards = {sites[at].guard_slot for at in places if sites[at].instruction.opcode == "bra"} - {None}
    tests = [sites[at] for at in places if sites[at].instruction.opcode == "setp" and sites[at].writes & guards]
    tested = {slot for test in tests for slot in test.reads}
    steps = [sites[at] for at in places if sites[at].instruction.opcode == "add"]
    for step in (each for each in steps if each.writes == each.reads and each.writes <= tested):
        test = next(each for each in tests if step.writes <= each.reads)
        begun = [site for site in sites if site.index not in places and site.writes & step.writes]
        numbers = [_number(test), _number(step), *(_constant(site, sites) for site in begun)]
        if begun and None not in numbers:
            last, by, first = (float(each or 0) for each in numbers[:3])
            rounds = max(1, int(abs(last - first) // max(1, abs(by))))
            return rounds if rounds <= _UNROLLED else 0
    return 0


def _number(site: Site) -> int | float | None:
    """The constant among the operands of an instruction."""
    return next((each.value for each in site.instruction.operands if isinstance(each, Immediate)), None)


def _constant(site: Site, sites: Sequence[Site], depth: int = 4) -> int | float | None:
    """The constant that a `mov` copies, also out of a register that has nothing else."""
    if site.instruction.opcode != "mov" or not depth:
        return None
    writers = [each for each in sites if each.writes & site.reads]
    return _constant(writers[0], sites, depth - 1) if len(writers) == 1 else _number(site)
