"""Types of the bindings' `scf` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

class YieldOp(ir.OpView):
    def __init__(
        self, results_: Sequence[ir.Value], *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> None: ...
    @property
    def results_(self) -> Sequence[ir.Value]: ...

def yield_(
    results_: Sequence[ir.Value], *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> YieldOp: ...

class ForOp(ir.OpView):
    def __init__(
        self,
        lower_bound: ir.Value,
        upper_bound: ir.Value,
        step: ir.Value,
        iter_args: Sequence[ir.Value] | None = ...,
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def lowerBound(self) -> ir.Value: ...
    @property
    def upperBound(self) -> ir.Value: ...
    @property
    def step(self) -> ir.Value: ...
    @property
    def initArgs(self) -> Sequence[ir.Value]: ...
    @property
    def body(self) -> ir.Block: ...
    @property
    def induction_variable(self) -> ir.BlockArgument: ...
    @property
    def inner_iter_args(self) -> Sequence[ir.BlockArgument]: ...

class IfOp(ir.OpView):
    def __init__(
        self,
        cond: ir.Value,
        results_: Sequence[ir.Type] | None = ...,
        *,
        has_else: bool = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def condition(self) -> ir.Value: ...
    @property
    def then_block(self) -> ir.Block: ...
    @property
    def else_block(self) -> ir.Block | None: ...
