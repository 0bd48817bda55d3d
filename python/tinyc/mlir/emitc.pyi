"""Types of the bindings' `emitc` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

class VerbatimOp(ir.OpView):
    def __init__(
        self,
        value: str | ir.StringAttr,
        fmtArgs: Sequence[ir.Value],
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def value(self) -> ir.StringAttr: ...
