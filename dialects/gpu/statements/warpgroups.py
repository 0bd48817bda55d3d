"""`tgpu.warpgroups`: statements for some of a CTA's warpgroups; and the barriers and fences that go with it."""

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import Malformed

#: Named barriers of a CTA; 0 is that of `gpu.barrier`.
NAMED_BARRIERS = 16


class WarpgroupsOp(TgpuOp, name="warpgroups"):
    """Run the body in `count` warpgroups of the CTA, from number `first` on, in each by itself; its argument is which.

    With `registers` above 0 each of their threads has so many from then on. `one_thread` says that one thread of a
    warpgroup runs it alone, as one that starts copies by TMA does.
    """

    first: ir.IntegerAttr
    count: ir.IntegerAttr
    registers: ir.IntegerAttr
    one_thread: fields.Bool
    body: ext.Region

    def check(self) -> None:
        """The registers are some that `setmaxnreg` gives, and the body has one argument."""
        if len(self.regions[0].blocks) != 1 or len(self.body_block.arguments) != 1:
            raise Malformed("must have a body of one block, whose argument is the number of the warpgroup")
        if self.first.value < 0 or self.count.value < 1:
            raise Malformed(
                f"is for {self.count.value} warpgroups from {self.first.value} on; a CTA has some from 0 on"
            )
        registers = self.registers.value
        if registers and (registers % 8 or not 24 <= registers <= 256):
            raise Malformed(f"has registers = {registers}; a thread has 24 to 256, a multiple of 8")


class NamedBarrierOp(TgpuOp, name="named_barrier"):
    """Wait at barrier `id` plus the number of the warpgroup, until `threads` have come to it."""

    id: ir.IntegerAttr
    threads: ir.IntegerAttr

    def check(self) -> None:
        """It is a barrier that the hardware has, of whole warps."""
        if not 1 <= self.id.value < NAMED_BARRIERS:
            raise Malformed(f"has id = {self.id.value}; named barriers are 1 to {NAMED_BARRIERS - 1}")
        if self.threads.value < 1 or self.threads.value % 32:
            raise Malformed(f"waits for {self.threads.value} threads; they are whole warps: give a multiple of 32")


class WarpBarrierOp(TgpuOp, name="warp_barrier"):
    """Wait, in each warp, until its lanes have come here: what they have done is then done for whoever of them goes on.

    It is between reads of a tile by threads and an arrival, which is one lane's, that gives the tile back.
    """

    def check(self) -> None:
        """It has nothing that could be wrong."""


class ClusterBarrierOp(TgpuOp, name="cluster_barrier"):
    """Wait until all threads of the cluster's CTAs have come here.

    Behind one that is `relaxed` they know of mbarriers that were made before it, and of nothing else.
    """

    relaxed: fields.Bool

    def check(self) -> None:
        """It has nothing that could be wrong."""


class FenceAsyncOp(TgpuOp, name="fence_async"):
    """Let what threads have written to shared memory be seen by tensor cores and copies by TMA."""

    def check(self) -> None:
        """It has nothing that could be wrong."""
