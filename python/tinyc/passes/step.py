"""One step of a pipeline: a pass of tinyc's, which is a frozen dataclass, or one of MLIR's own.

The text of a step, `region-plan{arch=sm_80}`, says all that is needed to run it again.
"""

import abc
import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from tinyc.mlir import ir, passmanager
from tinyc.passes.options import options_text, values_of_options
from tinyc.text import IrError, capture_errors


@dataclass(frozen=True)
class PassFile:
    """Where a pass comes from that is not tinyc's: its file, which has to be loaded unless a package installed it."""

    file: str
    installed: bool = False


@dataclass(frozen=True)
class Pass(abc.ABC):
    """A pass in Python: subclass it as a frozen dataclass; the docstring is the pass's help.

    `consumes` and `produces` are the layers that it reads and the layers that it may leave behind; `works_on` are the
    ops of the module without which it has nothing to do, where any op of `consumes` is not enough. `loaded_from` is for
    whoever loads a pass to say.
    """

    name: ClassVar[str]
    consumes: ClassVar[tuple[str, ...]] = ()
    produces: ClassVar[tuple[str, ...]] = ()
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = ()
    loaded_from: ClassVar[PassFile | None] = None

    def __init_subclass__(cls) -> None:
        # In the subclass's own dictionary, so that @dataclass does not put its own there.
        cls.__repr__ = Pass.text  # type: ignore[method-assign]

    @abc.abstractmethod
    def run(self, module: ir.Module) -> None:
        """Edit `module` in place; raise TinycError for what the user can mend."""

    def alone(self) -> "Pass":
        """A pass that does the same and reads no file."""
        return self

    def output(self, module: ir.Module) -> str | None:
        """The text that is printed in place of the module where this pass is the last, if it is not IR."""
        return None

    @property
    def prints_ir(self) -> bool:
        """Whether what it prints as the last pass is IR."""
        return type(self).output is Pass.output

    @property
    def title(self) -> str:
        """The pass's name in logs."""
        return type(self).__name__

    def text(self) -> str:
        """The pass as pipeline text, with the options that are not at their defaults."""
        options = options_text(self)
        return f"{self.name}{{{options}}}" if options else self.name

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The pass with `options`, the texts that stand after `=`.

        Raises:
            TinycError: `InvalidOption`: there is no such option, or its value is not of the option's type.
        """
        return cls(**values_of_options(cls.name, dataclasses.fields(cls), typing.get_type_hints(cls), options))


@dataclass(frozen=True)
class Upstream:
    """A C++ pass of MLIR's: `leaf` is its text, `anchors` the ops that it is nested in below the module."""

    leaf: str
    anchors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The pass's name in pipelines."""
        return self.leaf.partition("{")[0]

    @property
    def title(self) -> str:
        """The pass's name in logs."""
        return self.name

    def text(self) -> str:
        """The pass as pipeline text."""
        return "".join(f"{anchor}(" for anchor in self.anchors) + self.leaf + ")" * len(self.anchors)

    def run(self, module: ir.Module) -> None:
        """Run the pass.

        Raises:
            IrError: it failed; with everything that it reported.
        """
        manager = passmanager.PassManager.parse(f"builtin.module({self.text()})", module.context)
        manager.enable_verifier(False)  # the runner verifies
        with capture_errors(module.context) as errors:
            try:
                manager.run(module.operation)
            except ir.MLIRError:
                raise IrError.of(errors, f"pass '{self.name}' failed") from None


#: What a pipeline is made of: `title` is its name in logs, `name` and `text()` are how a pipeline spells it.
Step: TypeAlias = Pass | Upstream


class Instrument:
    """What an instrument may hear; the default is to hear nothing."""

    def before(self, step: Step, module: ir.Module) -> None:
        """`step` is about to run."""

    def after(self, step: Step, module: ir.Module) -> None:
        """`step` has run, and the module verifies."""

    def failed(self, step: Step, module: ir.Module) -> None:
        """`step` has failed, or left a module that does not verify."""
