"""`tgpu.commit_group`, `tgpu.wait_group`: asynchronous work in groups, for which threads wait."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import AccType, InFlightType, TgpuOp, accumulator_layout
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed

#: What is done asynchronously: copies by threads, copies of boxes to global memory, products of warpgroups.
GROUP_KINDS = ("cp_async", "bulk", "wgmma")
_MOST_PENDING = 7


class CommitGroupOp(TgpuOp, name="commit_group"):
    """Close the group of what the thread has started of a kind, "cp_async", "bulk" (`tgpu.tma_store`) or "wgmma"."""

    kind: ir.StringAttr

    def check(self) -> None:
        """It is a kind of group."""
        _require_kind(self)


class WaitGroupOp(TgpuOp, name="wait_group"):
    """Wait until at most `pending` groups of a kind are under way.

    Of "wgmma" it takes accumulators in flight; where nothing is pending, they are ready behind it. Of "bulk" it waits
    until memory has been read, so that it may be written again; with `pending` of -1 until all is written.
    """

    accumulators: Sequence[ext.Result[Any]]
    in_flight: Sequence[ext.Operand[Any]]
    kind: ir.StringAttr
    pending: ir.IntegerAttr

    def check(self) -> None:
        """What comes out of it is what goes in, ready where nothing is pending."""
        _require_kind(self)
        pending, kind = self.pending.value, self.kind.value
        if not (0 <= pending <= _MOST_PENDING or (pending == -1 and kind == "bulk")):
            raise Malformed(f"has pending = {self.pending}; from 0 to {_MOST_PENDING} groups may be")
        if kind != "wgmma" and list(self.operands):
            raise Malformed(f"has operands, and waits for {kind}; accumulators are those of wgmma")
        for given, taken in zip(self.results, self.operands, strict=True):
            wanted, shown = (AccType, "a !tgpu.acc") if pending == 0 else (InFlightType, "a !tgpu.in_flight")
            if not isinstance(taken.type, InFlightType) or not isinstance(given.type, wanted):
                raise Malformed(f"makes {given.type} of {taken.type}; with {pending} pending it is {shown}")
            if accumulator_layout(taken.type) != accumulator_layout(given.type):
                raise Malformed(f"makes {given.type} of {taken.type}; give both one tile and layout")


def _require_kind(op: CommitGroupOp | WaitGroupOp) -> None:
    if op.kind.value not in GROUP_KINDS:
        raise Malformed(f"has kind = {op.kind}; it must be one of {', '.join(GROUP_KINDS)}")
