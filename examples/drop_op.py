"""A pass of one's own, for `tinyc-opt --load-pass examples/drop_op.py --drop-op=op=relu`."""

from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.graphs import functions_of
from tinyc.diagnostics import remark
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.passes import Pass


@dataclass(frozen=True)
class DropOp(Pass):
    """Leave an element-wise op out, to see what it costs: its operand stands in its place."""

    name: ClassVar[str] = "drop-op"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("tiny",)
    op: str = field(default="relu", metadata={"doc": "the op of the Tiny layer"})

    def run(self, module: ir.Module) -> None:
        """Edit `module` in place."""
        for function in functions_of(module):
            for op in list(function.body.blocks[0].operations):
                if op.operation.name == f"tiny.{self.op}" and op.operands[0].type == op.results[0].type:
                    remark("op-dropped", where(op.location), f"left {self.op} out")
                    op.results[0].replace_all_uses_with(op.operands[0])
                    op.erase()
