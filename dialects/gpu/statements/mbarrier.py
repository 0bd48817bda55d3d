"""mbarriers: how threads and asynchronous copies tell each other that a stage is full, or empty."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, mbarrier_stages
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed

#: What an mbarrier counts to.
_MOST_ARRIVALS = 2**20 - 1


class MbarrierInitOp(TgpuOp, name="mbarrier_init"):
    """mbarriers, one for each stage, whose phases end with `arrivals` arrivals; one thread makes them."""

    barriers: ext.Result[Any]
    arrivals: ir.IntegerAttr

    def check(self) -> None:
        """It gives a `!tgpu.mbarrier` that something arrives at."""
        mbarrier_stages(self.barriers.type)
        if not 1 <= self.arrivals.value <= _MOST_ARRIVALS:
            raise Malformed(f"has arrivals = {self.arrivals}; a phase ends with 1 to {_MOST_ARRIVALS}")


class MbarrierExpectTxOp(TgpuOp, name="mbarrier_expect_tx"):
    """Arrive, one of the threads that run it, at a stage's mbarrier; the phase ends when copies bring `bytes`, too."""

    barriers: ext.Operand[Any]
    stage: ext.Operand[Any]
    bytes: ir.IntegerAttr

    def check(self) -> None:
        """The bytes are some that a phase may wait for."""
        mbarrier_stages(self.barriers.type)
        require_indices(self, "stage")
        if not 0 < self.bytes.value <= _MOST_ARRIVALS:
            raise Malformed(f"expects {self.bytes.value} bytes; a phase may wait for 1 to {_MOST_ARRIVALS}")


class MbarrierArriveOp(TgpuOp, name="mbarrier_arrive"):
    """Arrive at a stage's mbarrier once for each warp; with `ctas` above 1 at those of so many CTAs of the cluster.

    With a `condition`, an i1, only where it holds.
    """

    barriers: ext.Operand[Any]
    stage: ext.Operand[Any]
    condition: Sequence[ext.Operand[Any]]
    ctas: ir.IntegerAttr

    def check(self) -> None:
        """It arrives somewhere."""
        mbarrier_stages(self.barriers.type)
        require_indices(self, "stage")
        if [str(each.type) for each in self.condition] not in ([], ["i1"]):
            shown = ", ".join(str(each.type) for each in self.condition)
            raise Malformed(f"arrives on a condition of ({shown}); it must be an i1, or none")
        if not 1 <= self.ctas.value <= 16:
            raise Malformed(f"arrives at {self.ctas.value} CTAs; a cluster has 1 to 16")


class MbarrierWaitOp(TgpuOp, name="mbarrier_wait"):
    """Wait until the phase of parity `parity` (an i32, 0 or 1) of a stage's mbarrier has ended."""

    barriers: ext.Operand[Any]
    stage: ext.Operand[Any]
    parity: ext.Operand[Any]

    def check(self) -> None:
        """The parity is an i32."""
        mbarrier_stages(self.barriers.type)
        require_indices(self, "stage")
        if str(self.parity.type) != "i32":
            raise Malformed(f"has a parity of type {self.parity.type}; it must be an i32, 0 or 1")
