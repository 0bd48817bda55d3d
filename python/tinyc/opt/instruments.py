"""Instruments for the pass runner, spelled and laid out as in `mlir-opt`: print the IR around passes, time them, count.

Everything goes to a stream (stderr), or, for IR with `tree_dir`, to numbered files of a folder.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tinyc.dialects.region.ops import KernelOp
from tinyc.importers.files import write_file
from tinyc.mlir import ir
from tinyc.mlir.bodies import nested
from tinyc.passes import Instrument, Step
from tinyc.text import PrintStyle

_RULE = "===" + "-" * 73 + "==="


@dataclass
class PrintIr(Instrument):
    """Print the module before and after passes: `before_passes` and `after_passes` name them.

    The whole module is printed, also around a pass that is nested in a function. A pass that left the text of the
    module as it was is marked "(unchanged)"; `after_change` prints no IR for it.
    """

    stream: TextIO
    before_passes: frozenset[str] = frozenset()
    after_passes: frozenset[str] = frozenset()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    after_failure: bool = False
    style: PrintStyle = field(default_factory=PrintStyle)
    tree_dir: Path | None = None
    _text: str = ""
    _count: int = 0

    def before(self, step: Step, module: ir.Module) -> None:
        """Print the module if asked to, and keep its text for comparison."""
        before = self.before_all or step.name in self.before_passes
        after = self.after_all or self.after_change or step.name in self.after_passes
        if before or after:
            self._text = self._asm(module)
        if before:
            self._emit("Before", step, self._text)

    def after(self, step: Step, module: ir.Module) -> None:
        """Print the module if asked to."""
        if not (self.after_all or self.after_change or step.name in self.after_passes):
            return
        text = self._asm(module)
        if text != self._text:
            self._emit("After", step, text)
        elif self.after_change:
            self.stream.write(f"// {step.title} ({step.name}): (unchanged)\n")
        else:
            self._emit("After", step, f"// (unchanged)\n{text}")

    def failed(self, step: Step, module: ir.Module) -> None:
        """Print what a failed pass left behind if asked to."""
        if self.after_failure or self.after_all or step.name in self.after_passes:
            self._emit("After", step, self._asm(module), " Failed")

    def _asm(self, module: ir.Module) -> str:
        return self.style.text_of(module, verified=False)

    def _emit(self, when: str, step: Step, text: str, outcome: str = "") -> None:
        header = f"// -----// IR Dump {when} {step.title}{outcome} ({step.name}) //----- //\n"
        if self.tree_dir is None:
            self.stream.write(f"{header}{text.rstrip()}\n\n\n")
            return
        write_file(self.tree_dir / f"{self._count}_{step.name}.mlir", f"{header}{text.rstrip()}\n", True)
        self._count += 1


#: What `PassStatistics` counts around a pass, as `mlir-opt` names statistics.
_COUNTED = (
    ("num-ops-before", "Number of operations before the pass"),
    ("num-ops-after", "Number of operations after the pass"),
    ("num-functions-after", "Number of functions and kernels after the pass"),
)


@dataclass
class PassStatistics(Instrument):
    """Count ops around passes; `report()` gives `mlir-opt`'s list, pass by pass in the order in which they ran.

    The statistics that MLIR's own passes keep are not among them: the bindings' LLVM is built without.
    """

    entries: list[tuple[str, tuple[int, int, int]]] = field(default_factory=list[tuple[str, tuple[int, int, int]]])
    _before: int = 0

    def before(self, step: Step, module: ir.Module) -> None:
        """Count what `step` is given."""
        self._before, _ = _count(module)

    def after(self, step: Step, module: ir.Module) -> None:
        """Count what `step` leaves."""
        self.entries.append((step.title, (self._before, *_count(module))))

    def report(self) -> str:
        """The list."""
        lines: list[str] = []
        for title, counts in self.entries:
            width = max(len(str(count)) for count in counts)
            lines.append(title)
            for (name, text), count in zip(_COUNTED, counts, strict=True):
                lines.append(f"  (S) {count:>{width}} {name:<19} - {text}")
        return "\n".join([_RULE, "... Pass statistics report ...".center(79).rstrip(), _RULE, *lines, ""])


def _count(module: ir.Module) -> tuple[int, int]:
    """How many ops a module holds, and how many functions."""
    ops = nested(module)
    functions = [op for op in ops if "function_type" in op.attributes or isinstance(op.opview, KernelOp)]
    return len(ops) - 1, len(functions)


@dataclass
class PassTiming(Instrument):
    """Measure what passes and named phases take; `report()` gives `mlir-opt`'s table."""

    entries: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    _begun: float = field(default_factory=time.perf_counter)
    _step_begun: float = 0.0

    def before(self, step: Step, module: ir.Module) -> None:
        """Start the clock of `step`."""
        self._step_begun = time.perf_counter()

    def after(self, step: Step, module: ir.Module) -> None:
        """Record `step`."""
        self.entries.append((step.title, time.perf_counter() - self._step_begun))

    def failed(self, step: Step, module: ir.Module) -> None:
        """Record `step`."""
        self.after(step, module)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Record what the `with` block takes."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.entries.append((name, time.perf_counter() - begun))

    def report(self) -> str:
        """The table."""
        total = time.perf_counter() - self._begun
        rest = total - sum(seconds for _, seconds in self.entries)
        rows = [*self.entries, ("Rest", rest), ("Total", total)]
        return "\n".join(
            [
                _RULE,
                "... Execution time report ...".center(79).rstrip(),
                _RULE,
                f"  Total Execution Time: {total:.4f} seconds",
                "",
                "  ----Wall Time----  ----Name----",
                *(f"  {seconds:8.4f} ({seconds / total:6.1%})  {name}" for name, seconds in rows),
                "",
            ]
        )
