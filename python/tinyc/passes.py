"""What a pass is, and the runner.

A pass is a frozen dataclass whose fields are its options; its text, `region-plan{arch=sm80}`, says all that is needed
to run it again. `Upstream` is a pass of MLIR's own. `run` takes a module through passes: it verifies between them,
tells instruments what happens, and turns every way to fail into a `TinycError`.
"""

import abc
import contextlib
import dataclasses
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from tinyc import dialects
from tinyc.diagnostics import InternalError, TinycError, Where, remark, suggest
from tinyc.mlir import ir, passmanager
from tinyc.reproducer import Reproducer
from tinyc.text import IrError, capture_errors, located, verify


@dataclass(frozen=True)
class Pass(abc.ABC):
    """A pass of tinyc's: subclass it as a frozen dataclass; the docstring is the pass's help.

    `consumes` and `produces` are the layers that it reads and the layers that it may leave behind.
    """

    name: ClassVar[str]
    consumes: ClassVar[tuple[str, ...]] = ()
    produces: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        # In the subclass's own dictionary, so that @dataclass does not put its own there.
        cls.__repr__ = Pass.text  # type: ignore[method-assign]

    @abc.abstractmethod
    def run(self, module: Any) -> None:
        """Edit `module` (an `ir.Module`) in place; raise TinycError for what the user can mend."""

    def alone(self) -> "Pass":
        """Return a pass that does the same and reads no file."""
        return self

    def output(self, module: Any) -> str | None:
        """Return what tinyc-opt prints in place of the module where this pass is the last: a text that is no IR."""
        return None

    @property
    def title(self) -> str:
        """The pass's name in logs."""
        return type(self).__name__

    def text(self) -> str:
        """Return the pass as pipeline text, with the options that are not at their defaults."""
        given = [
            f"{_option(field)}={_value_text(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != _default(field)
        ]
        return f"{self.name}{{{' '.join(given)}}}" if given else self.name

    @classmethod
    def from_options(cls, options: dict[str, str]) -> typing.Self:
        """Return the pass with `options`, the texts that stand after `=`.

        Raises:
            TinycError: `UnknownPass`: there is no such option, or its value is not of the option's type.
        """
        fields = {_option(field): field for field in dataclasses.fields(cls)}
        hints = typing.get_type_hints(cls)
        values = {}
        for key, text in options.items():
            if key not in fields:
                hint = "; a value with blanks needs quotes" if len(options) > 1 else ""
                raise TinycError("UnknownPass", f"pass '{cls.name}' has no option '{key}'{suggest(key, fields)}{hint}")
            values[fields[key].name] = _value(cls.name, key, text, hints[fields[key].name])
        missing = [key for key, field in fields.items() if key not in options and not _has_default(field)]
        if missing:
            raise TinycError("UnknownPass", f"pass '{cls.name}' needs option '{missing[0]}'; write {missing[0]}=…")
        return cls(**values)


@dataclass(frozen=True)
class Upstream:
    """A C++ pass of MLIR's: `leaf` is its text, `anchors` the ops that it is nested in below the module."""

    name: str
    leaf: str
    anchors: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The pass's name in logs."""
        return self.name

    def text(self) -> str:
        """Return the pass as pipeline text."""
        return "".join(f"{anchor}(" for anchor in self.anchors) + self.leaf + ")" * len(self.anchors)

    def run(self, module: Any) -> None:
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


#: What `run` runs: `title` is its name in logs, `name` and `text()` are how a pipeline spells it.
Step: TypeAlias = Pass | Upstream


class Instrument:
    """What an instrument may hear; the default is to hear nothing."""

    def before(self, step: Step, module: Any) -> None:
        """`step` is about to run."""

    def after(self, step: Step, module: Any) -> None:
        """`step` has run, and the module verifies."""

    def failed(self, step: Step, module: Any) -> None:
        """`step` has failed, or left a module that does not verify."""


#: Passes of MLIR's that speak or write beside what they do to the module: it would show that they have run twice.
_AUDIBLE = frozenset({"print-ir", "print-op-stats", "snapshot-op-locations", "transform-interpreter", "view-op-graph"})


@dataclass(frozen=True)
class _Origin:
    """The module that a step is given, for what repeats its failure: an earlier copy, and what has run on it since.

    A copy takes as long as a short pass of MLIR's. Those do the same each time, so that one copy serves a row of them.
    """

    copy: Any
    since: tuple[Upstream, ...] = ()

    def after(self, step: Step) -> "_Origin | None":
        """Return the origin of the step that follows `step`; None: it needs a copy of its own."""
        if isinstance(step, Pass) or step.name in _AUDIBLE:
            return None
        return _Origin(self.copy, (*self.since, step))

    def text(self) -> str:
        """Return the text of the module, with locations."""
        module = self.copy.clone()
        handler = module.context.attach_diagnostic_handler(lambda _: True)  # what the passes say has been said
        try:
            for step in self.since:
                step.run(module)
        finally:
            handler.detach()
        return located(module)


def run(module: Any, steps: Sequence[Step], instruments: Sequence[Instrument] = (), verify_each: bool = True) -> None:
    """Take `module` through `steps`, in place.

    Raises:
        TinycError: a pass refuses the module, or the module breaks the contract of a layer; `InternalError` where
            that is a pass's doing, with a reproducer.
    """
    with module.context, ir.Location.unknown():
        if verify_each:
            verify_layers(module)
        origin: _Origin | None = None
        for step in steps:
            for instrument in instruments:
                instrument.before(step, module)
            origin = origin or _Origin(module.operation.clone())
            try:
                _run_one(step, module, origin, verify_each)
            except Exception as error:
                for instrument in instruments:
                    instrument.failed(step, module)
                if isinstance(error, TinycError) and not isinstance(error, InternalError):
                    error.reproducer = _reproducer(step, origin, verify_each)
                raise
            for instrument in instruments:
                instrument.after(step, module)
            origin = origin.after(step)


def verify_layers(module: Any) -> None:
    """Check `module` op by op and against the contract of every layer in it.

    Raises:
        IrError: it breaks one.
    """
    verify(module.operation)
    verify_contracts(module)


def verify_contracts(module: Any) -> None:
    """Check `module`, whose ops verify, against the contract of every layer in it.

    Raises:
        IrError: it breaks one.
    """
    with module.context, capture_errors(module.context) as errors:
        legal = dialects.verify(module)
    if not legal:
        raise IrError.of(errors, "the module breaks the contract of a layer")


def _run_one(step: Step, module: Any, origin: _Origin, verify_each: bool) -> None:
    if not isinstance(step, Pass):
        step.run(module)
        if verify_each:
            verify_layers(module)
        return
    present = dialects.present(module)
    if step.consumes and not present.intersection(step.consumes):
        layers = " or ".join(step.consumes)
        remark("pass-not-applicable", Where(), f"'{step.name}' finds no {layers} op", consumes=list(step.consumes))
    try:
        step.run(module)
    except TinycError:
        raise
    except Exception as error:
        raise _internal(step, origin, f"{type(error).__name__}: {error}") from error
    if verify_each:
        _check_result(step, module, origin, present)


def _check_result(step: Pass, module: Any, origin: _Origin, before: set[str]) -> None:
    """Check what a pass of tinyc's left behind; whatever is wrong with it is tinyc's fault."""
    try:
        verify_layers(module)
    except IrError as error:
        raise _internal(step, origin, f"the IR that it made does not verify: {error}") from error
    ours = {layer.name for layer in dialects.layers()}
    undeclared = (dialects.present(module) - before).intersection(ours).difference(step.produces)
    if undeclared:
        raise _internal(step, origin, f"it made ops of {', '.join(sorted(undeclared))} and does not declare them")


def _internal(step: Step, origin: _Origin, what: str) -> InternalError:
    """Return the error for a defect of `step`, with a file that repeats it."""
    command = _reproducer(step, origin, verify_each=True).save()
    return InternalError(f"pass '{step.name}' failed: {what}; to repeat it: {command}")


def _reproducer(step: Step, origin: _Origin, verify_each: bool) -> Reproducer:
    asm = origin.text()
    if isinstance(step, Pass):
        with contextlib.suppress(TinycError):  # its file cannot be read: that is what is to be repeated
            step = step.alone()
    return Reproducer(f"builtin.module({step.text()})", asm, verify_each)


def _option(field: Any) -> str:
    return field.name.replace("_", "-")


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _has_default(field: Any) -> bool:
    return _default(field) is not dataclasses.MISSING


def _value(name: str, key: str, text: str, hint: Any) -> Any:
    """Return the value of type `hint` (str, int, float, bool, or one of them or None) that `text` spells."""
    if isinstance(hint, types.UnionType):
        hint = next(each for each in typing.get_args(hint) if each is not types.NoneType)
    try:
        return {"true": True, "": True, "false": False}[text] if hint is bool else hint(text)
    except (KeyError, ValueError):
        message = f"option '{key}' of pass '{name}' is {text!r}; give {_DESCRIBED.get(hint, hint.__name__)}"
        raise TinycError("UnknownPass", message) from None


_DESCRIBED = {bool: "true or false", int: "an integer", float: "a number"}


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if text and not set(text) & set(" \t\n{}()'\",="):
        return text
    quote = "'" if '"' in text else '"'
    escaped = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"
