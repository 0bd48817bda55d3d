"""Passes for `--load-pass`: one with an option, one that fails, one that breaks its contract."""

from dataclasses import dataclass, field
from typing import ClassVar, Optional

from tinyc.dialects.tiny.ops import AssumeOp, NegOp
from tinyc.mlir import ir
from tinyc.passes import Pass


class OfFunctions(Pass):
    """What the passes here share; it is none itself."""

    def functions(self, module: ir.Module) -> list[ir.OpView]:
        return [op for op in module.body.operations if op.operation.name == "func.func"]


@dataclass(frozen=True)
class OwnRename(OfFunctions):
    """Rename every function.

    Requires:
        1. Functions.
    """

    name: ClassVar[str] = "own-rename"
    suffix: str = field(default="_own", metadata={"doc": "what names end with"})
    times: Optional[int] = field(default=None, metadata={"doc": "how often"})  # noqa: UP045 - an old spelling does, too

    def run(self, module: ir.Module) -> None:
        for function in self.functions(module):
            name = function.name.value + self.suffix * (1 if self.times is None else self.times)
            function.attributes["sym_name"] = ir.StringAttr.get(name)


@dataclass(frozen=True)
class OwnFail(OfFunctions):
    """Fail at the first negation."""

    name: ClassVar[str] = "own-fail"
    limit: int = field(default=0, metadata={"doc": "how many are enough"})

    def run(self, module: ir.Module) -> None:
        for function in self.functions(module):
            for op in function.regions[0].blocks[0].operations:
                if isinstance(op, NegOp):
                    raise ValueError(f"{self.limit} negations are enough")


@dataclass(frozen=True)
class OwnUndeclared(OfFunctions):
    """Make an op of a layer that the pass does not declare."""

    name: ClassVar[str] = "own-undeclared"

    def run(self, module: ir.Module) -> None:
        with ir.InsertionPoint.at_block_begin(self.functions(module)[0].regions[0].blocks[0]):
            AssumeOp(lhs=ir.StringAttr.get("M"), predicate=ir.StringAttr.get("le"), rhs=ir.StringAttr.get("64"))
