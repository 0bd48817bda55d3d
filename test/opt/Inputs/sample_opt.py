"""Passes that have options, refuse, fail or break the IR, for tests of `tinyc-opt`; no real pass does it all.

As a program this is `tinyc-opt` with these for tinyc's own passes; `--load-pass` takes the file, too.
"""

import sys
from dataclasses import dataclass, field
from typing import ClassVar, Optional

from tinyc.diagnostics import TinycError, remark
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.opt import main as opt
from tinyc.passes import Pass


class OfFunctions(Pass):
    """What the passes here share; it is none itself."""

    def functions(self, module: ir.Module) -> list[ir.OpView]:
        return [op for op in module.body.operations if op.operation.name == "func.func"]


@dataclass(frozen=True)
class SampleRename(OfFunctions):
    """Rename every function.

    Requires:
        1. Functions.
    """

    name: ClassVar[str] = "sample-rename"
    prefix: str = field(default="new_", metadata={"doc": "what names begin with"})
    times: Optional[int] = field(default=1, metadata={"doc": "how often"})  # noqa: UP045 - an old spelling does, too
    shout: bool = field(default=False, metadata={"doc": "use capitals"})

    def run(self, module: ir.Module) -> None:
        for function in self.functions(module):
            name = self.prefix * (self.times or 0) + function.name.value
            function.attributes["sym_name"] = ir.StringAttr.get(name.upper() if self.shout else name)


@dataclass(frozen=True)
class SampleRemark(OfFunctions):
    """Remark on every function."""

    name: ClassVar[str] = "sample-remark"

    def run(self, module: ir.Module) -> None:
        for function in self.functions(module):
            remark("seen", where(function.location), f"saw {function.name.value}", results=len(function.type.results))


@dataclass(frozen=True)
class SampleRefuse(OfFunctions):
    """Refuse every function."""

    name: ClassVar[str] = "sample-refuse"

    def run(self, module: ir.Module) -> None:
        found = [
            TinycError("NonScop", f"refuse {function.name.value}", where(function.location))
            for function in self.functions(module)
        ]
        if found:
            raise TinycError.several(found)


@dataclass(frozen=True)
class SampleFail(OfFunctions):
    """Fail at the first op of a function, as a pass with a defect does."""

    name: ClassVar[str] = "sample-fail"

    def run(self, module: ir.Module) -> None:
        for function in self.functions(module):
            for op in function.regions[0].blocks[0].operations:
                raise ZeroDivisionError(f"one over nothing at {op.operation.name}")


@dataclass(frozen=True)
class SampleBreak(OfFunctions):
    """Leave a module that does not verify."""

    name: ClassVar[str] = "sample-break"

    def run(self, module: ir.Module) -> None:
        for function in self.functions(module):
            function.attributes["sym_name"] = ir.StringAttr.get("same")


@dataclass(frozen=True)
class SampleUndeclared(OfFunctions):
    """Make an op of a layer that the pass does not declare."""

    name: ClassVar[str] = "sample-undeclared"

    def run(self, module: ir.Module) -> None:
        assume = ir.Operation.parse('"tiny.assume"() {lhs = "M", predicate = "le", rhs = "64"} : () -> ()')
        ir.InsertionPoint.at_block_begin(self.functions(module)[0].regions[0].blocks[0]).insert(assume)


PASSES = (SampleRename, SampleRemark, SampleRefuse, SampleFail, SampleBreak, SampleUndeclared)

if __name__ == "__main__":
    sys.exit(opt.main(known=PASSES))
