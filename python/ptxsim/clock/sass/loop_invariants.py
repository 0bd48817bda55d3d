"""What a loop of the PTX computes anew in each round though it is always the same, and ptxas computes once, before it.

In: the sites of a kernel, its straight runs, what is live. Out: such instructions. Compilers leave them where an inner
loop is between: ptxas unrolls that if its rounds are counted by constants, and then what depends on its counter, but on
nothing that changes from round to round of the outer one, moves out.
"""

from collections.abc import Sequence

from ptxsim.clock.sass.straight_runs import PtxRun, PtxRuns
from ptxsim.machine.site import Site
from ptxsim.parsing.syntax import Immediate, Slot

#: Instructions that compute something from their operands alone.
_PURE_TEXT = (
    "abs add and bfe bfi clz cvt cvta lop3 mad max min mov mul mul24 neg not or popc prmt selp set setp shf shl shr slct "
    "sub xor"
)
_PURE = frozenset(_PURE_TEXT.split())


def loop_invariants(sites: Sequence[Site], runs: PtxRuns, live: Sequence[int]) -> frozenset[int]:
    """The instructions, by index; `live` has the registers that are live before each instruction, as bits."""
    loops = runs.graph.loops
    heads = sorted({head for each in loops for head in each})
    counted = {head for head in heads if _is_counted(sites, [run for run in runs.runs if head in loops[run.number]])}
    found: set[int] = set()
    for head in heads:
        body = [run for run in runs.runs if head in loops[run.number]]
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
            inner = {each for each in loops[run.number] if each != head and head in loops[each]}
            if inner <= counted:
                here = (at for at in range(run.start, run.end) if _is_pure(sites[at]) and sites[at].writes)
                found |= {at for at in here if changing.isdisjoint(sites[at].reads | sites[at].writes)}
    return frozenset(found)


def _is_pure(site: Site) -> bool:
    each = site.instruction
    return each.opcode in _PURE or (each.opcode == "ld" and "param" in each.modifiers)


def _is_counted(sites: Sequence[Site], body: Sequence[PtxRun]) -> bool:
    """Whether a loop's counter begins with a constant, and is added one to, and compared with one."""
    places = {at for run in body for at in range(run.start, run.end)}
    by_constant = [at for at in places if any(isinstance(each, Immediate) for each in sites[at].instruction.operands)]
    guards = {sites[at].guard_slot for at in places if sites[at].instruction.opcode == "bra"} - {None}
    tests = (at for at in by_constant if sites[at].instruction.opcode == "setp" and sites[at].writes & guards)
    counters = {slot for at in tests for slot in sites[at].reads}
    added = {slot for at in by_constant if sites[at].instruction.opcode == "add" for slot in sites[at].writes & counters}
    begun = [site for site in sites if site.index not in places and site.writes & added]
    return bool(begun) and all(_is_constant(site, sites) for site in begun)


def _is_constant(site: Site, sites: Sequence[Site]) -> bool:
    """Whether an instruction copies a constant, also out of a register that has nothing else."""
    if site.instruction.opcode != "mov" or not isinstance(site.instruction.operands[-1], Immediate | Slot):
        return False
    writers = [each for each in sites if each.writes & site.reads]
    return all(_is_constant(each, sites) for each in writers if each is not site) and site not in writers
