"""The threads that run a statement, by warps: all of the CTA's, or those of a warpgroup.

Numbers are words of 32 bits. A warp's number is the same in all of its lanes, and ptxas is shown that: what is computed
of it alone then needs no register of each thread.
"""

from dataclasses import dataclass, replace

from tinyc.codegen.words import AnyWord, Word, rest
from tinyc.dialects.gpu.expand.threads import Threads
from tinyc.dialects.gpu.fragment_layout import WARP_LANES, WARPGROUP_THREADS, WARPGROUP_WARPS, FragmentLayout
from tinyc.mlir import gpu, ir
from tinyc.mlir.constants import number


@dataclass(frozen=True)
class Workers:
    """`threads` threads that work together, one of which this thread is, `thread`, lane `lane` of warp `warp` of them.

    `group` is their number where several warpgroups do the same, each apart.
    """

    threads: int
    thread: Word
    warp: AnyWord
    lane: Word
    group: AnyWord = 0

    @classmethod
    def of_cta(cls, threads: Threads) -> "Workers":
        """All threads of the CTA."""
        thread = Word.of(threads.linear, threads.count)
        return cls(threads.count, thread, _same_in_warp(thread // WARP_LANES), rest(thread, WARP_LANES))

    def warpgroup(self, first: int) -> "Workers":
        """Those of the warpgroup that the thread is in, one of some from `first` on."""
        group, warp = divmod(self.warp, WARPGROUP_WARPS)
        thread = rest(self.thread, WARPGROUP_THREADS)
        return Workers(WARPGROUP_THREADS, thread, warp, self.lane, group - first)

    def alone(self) -> "Workers":
        """One thread that is known to run by itself."""
        return replace(self, threads=1)

    def start(self, layout: FragmentLayout) -> tuple[AnyWord, AnyWord]:
        """The row and column of an accumulator tile at which the thread's warp begins."""
        return layout.start(self.warp)


def _same_in_warp(word: AnyWord) -> AnyWord:
    if isinstance(word, int):
        return word
    i32 = ir.IntegerType.get_signless(32)
    shuffle = gpu.ShuffleOp(word.value, number(0, i32), number(WARP_LANES, i32), gpu.ShuffleMode.IDX)
    return Word(shuffle.results[0], below=word.below)
