"""`tinyc-opt` with passes that have options, refuse, fail or break the IR, for its tests; no real pass does it all."""

import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tinyc.diagnostics import TinycError, remark
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.opt import main as opt
from tinyc.passes import Pass


def functions(module: Any) -> list[Any]:
    return [op for op in module.body.operations if op.operation.name == "func.func"]


@dataclass(frozen=True)
class SampleRename(Pass):
    """Rename every function.

    Requires:
        1. Functions.
    """

    name: ClassVar[str] = "sample-rename"
    prefix: str = field(default="new_", metadata={"doc": "what names begin with"})
    times: int = field(default=1, metadata={"doc": "how often"})
    shout: bool = field(default=False, metadata={"doc": "use capitals"})

    def run(self, module: Any) -> None:
        for function in functions(module):
            name = self.prefix * self.times + function.name.value
            function.attributes["sym_name"] = ir.StringAttr.get(name.upper() if self.shout else name)


@dataclass(frozen=True)
class SampleRemark(Pass):
    """Remark on every function."""

    name: ClassVar[str] = "sample-remark"

    def run(self, module: Any) -> None:
        for function in functions(module):
            remark("seen", where(function.location), f"saw {function.name.value}", results=len(function.type.results))


@dataclass(frozen=True)
class SampleRefuse(Pass):
    """Refuse every function."""

    name: ClassVar[str] = "sample-refuse"

    def run(self, module: Any) -> None:
        found = [
            TinycError("NonScop", f"refuse {function.name.value}", where(function.location))
            for function in functions(module)
        ]
        if found:
            raise TinycError.several(found)


@dataclass(frozen=True)
class SampleFail(Pass):
    """Fail as a pass with a defect does."""

    name: ClassVar[str] = "sample-fail"

    def run(self, module: Any) -> None:
        raise ZeroDivisionError("one over nothing")


@dataclass(frozen=True)
class SampleBreak(Pass):
    """Leave a module that does not verify."""

    name: ClassVar[str] = "sample-break"

    def run(self, module: Any) -> None:
        for function in functions(module):
            function.attributes["sym_name"] = ir.StringAttr.get("same")


@dataclass(frozen=True)
class SampleUndeclared(Pass):
    """Make an op of a layer that the pass does not declare."""

    name: ClassVar[str] = "sample-undeclared"

    def run(self, module: Any) -> None:
        assume = ir.Operation.parse('"tiny.assume"() {lhs = "M", predicate = "le", rhs = "64"} : () -> ()')
        ir.InsertionPoint.at_block_begin(functions(module)[0].regions[0].blocks[0]).insert(assume)


PASSES = (SampleRename, SampleRemark, SampleRefuse, SampleFail, SampleBreak, SampleUndeclared)

if __name__ == "__main__":
    sys.exit(opt.main(known=PASSES))
