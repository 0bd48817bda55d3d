"""The threads that run a statement, by warps: all of the CTA's, or those of a team of warpgroups.

Numbers are words of 32 bits. A warp's number is the same in all of its lanes, and ptxas is shown that: what is computed
of it alone then needs no register of each thread.
"""

from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word
from tinyc.dialects.gpu.expand.threads import Threads
from tinyc.dialects.gpu.fragment_layout import WARP_LANES, WARPGROUP_THREADS, WARPGROUP_WARPS, FragmentLayout
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.constants import number


@dataclass(frozen=True)
class Workers:
    """`threads` threads that work together, one of which this thread is, `thread`, lane `lane` of warp `warp` of them.

    `team` is their number where several such teams do the same, each apart.
    """

    threads: int
    thread: Word
    warp: AnyWord
    lane: Word
    team: AnyWord = 0

    @classmethod
    def of_cta(cls, threads: Threads) -> "Workers":
        """All threads of the CTA."""
        thread = Word.of(threads.linear)
        return cls(threads.count, thread, _same_in_warp(thread // WARP_LANES), Word.of((thread % WARP_LANES).value))

    def warpgroups(self, first: int, count: int, teams: int) -> "Workers":
        """Those of some warpgroups, in teams of as many each."""
        threads = count * WARPGROUP_THREADS // teams
        warp = self.warp - first * WARPGROUP_WARPS
        team: AnyWord = 0
        thread: AnyWord = self.thread - first * WARPGROUP_THREADS
        if teams > 1:
            team, warp = divmod(warp, threads // WARP_LANES)
            thread = thread % threads
        assert isinstance(thread, Word)  # it is not known which one runs
        return Workers(threads, thread, warp, self.lane, team)

    def start(self, layout: FragmentLayout) -> tuple[AnyWord, AnyWord]:
        """The row and column of an accumulator tile at which the thread's warp begins."""
        return layout.start(self.warp)


def _same_in_warp(value: Word) -> Word:
    i32 = ir.IntegerType.get_signless(32)
    shuffle = gpu.ShuffleOp(value.value, number(0, i32), number(WARP_LANES, i32), gpu.ShuffleMode.IDX)
    return Word(shuffle.results[0])
