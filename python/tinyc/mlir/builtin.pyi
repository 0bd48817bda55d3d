"""Types of the bindings' `builtin` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

class ModuleOp(ir.OpView): ...

class UnrealizedConversionCastOp(ir.OpView):
    def __init__(
        self,
        outputs: Sequence[ir.Type],
        inputs: Sequence[ir.Value],
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
