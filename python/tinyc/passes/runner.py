"""The runner: takes a module through steps, verifies between them, and turns every way to fail into a `TinycError`."""

import contextlib
import os
from collections.abc import Sequence

from tinyc.diagnostics import InternalError, TinycError, Where, either, progress, remark
from tinyc.dialects import registry
from tinyc.mlir import ir
from tinyc.passes.failures import op_in_hand, raised_at
from tinyc.passes.reproducer import Reproducer
from tinyc.passes.step import Instrument, Pass, Step, Upstream
from tinyc.text import IrError, capture_errors, located, verify_op


def run_passes(
    module: ir.Module,
    steps: Sequence[Step],
    instruments: Sequence[Instrument] = (),
    verify_each: bool = True,
    part: tuple[int, int] | None = None,
    present: set[str] | None = None,
) -> set[str] | None:
    """Take `module` through `steps`, in place; with `part`, they are those of a longer walk after so many, of so many.

    Returns the namespaces of the ops that it has then, where it has been verified; one that is known to verify, with
    ops of those `present`, is not verified again before the first step.

    Raises:
        TinycError: a pass refuses the module, or the module breaks the contract of a layer; `InternalError` where
            that is a pass's doing, `FailedPass` where the pass is not tinyc's. These, and the failure of a pass of
            MLIR's, come with a reproducer.
    """
    with module.context, ir.Location.unknown():
        if verify_each and present is None:
            present = verify_layers(module)
        done, total = part or (0, len(steps))
        for number, step in enumerate(steps, done + 1):
            progress(f"--{step.name}, pass", number, total)
            for instrument in instruments:
                instrument.before(step, module)
            given = module.operation.clone()  # for what repeats a failure; text would take ten times as long
            try:
                present = _run_step(step, module, given, verify_each, present)
            except Exception as error:
                for instrument in instruments:
                    instrument.failed(step, module)
                if isinstance(error, TinycError) and isinstance(step, Upstream):
                    error.reproducer = _reproducer(step, given, verify_each)
                raise
            for instrument in instruments:
                instrument.after(step, module)
    return present


def verify_layers(module: ir.Module) -> set[str]:
    """Check `module` op by op and against the contract of every layer in it; return the namespaces of its ops.

    Raises:
        IrError: it breaks one.
    """
    verify_op(module.operation)
    return verify_contracts(module)


def verify_contracts(module: ir.Module) -> set[str]:
    """Check `module`, whose ops verify, against the contract of every layer in it; return the namespaces of its ops.

    Raises:
        IrError: it breaks one.
    """
    with module.context, capture_errors(module.context) as errors:
        present = registry.present(module)
        legal = registry.verify_layers_of(module, present)
    if not legal:
        raise IrError.of(errors, "the module breaks the contract of a layer")
    return present


def copy_module(module: ir.Module) -> ir.Module:
    """A copy of a module, in its context, for whoever wants to keep what a pass edits in place."""
    with module.context:
        copy = ir.Module.create(loc=module.operation.location)
        for name in module.operation.attributes:
            copy.operation.attributes[name] = module.operation.attributes[name]
        whole = module.operation.clone()  # as one, so that an op uses the copies of its operands
        for op in list(whole.regions[0].blocks[0].operations):
            copy.body.append(op)
    return copy


def _run_step(
    step: Step, module: ir.Module, given: ir.OpView, verify_each: bool, present: set[str] | None
) -> set[str] | None:
    """Run a step on a module with the ops of `present`; return whose ops it has then, None where nobody looked."""
    if not isinstance(step, Pass):
        step.run(module)
        return verify_layers(module) if verify_each else None
    present = registry.present(module) if present is None else present
    missing = _missing(step, module, present)
    try:
        step.run(module)
    except TinycError:
        raise
    except Exception as error:
        what, place = f"{type(error).__name__}: {error}", Where()
        if step.loaded_from is not None:
            what += f", raised at {raised_at(error, step.loaded_from.file)}; --debug shows the traceback"
            place = op_in_hand(error, step.loaded_from.file, module)
        raise _defect(step, given, what, place) from error
    if missing is not None:
        message = f"no {missing} in the module: --{step.name} had nothing to do"
        remark("pass-not-applicable", Where(), message, consumes=list(step.consumes))
    return _check_result(step, module, given, present) if verify_each else None


def _missing(step: Pass, module: ir.Module, present: set[str]) -> str | None:
    """The ops without which a pass has nothing to do, None where there are some."""
    if step.works_on:
        found = any(isinstance(op, step.works_on) for op in module.body.operations)
        return None if found else either(op.OPERATION_NAME for op in step.works_on)
    found = not step.consumes or not present.isdisjoint(step.consumes)
    return None if found else f"{either(step.consumes)} op"


def _check_result(step: Pass, module: ir.Module, given: ir.OpView, before: set[str]) -> set[str]:
    """Check what a pass left behind, and return whose ops; whatever is wrong with it is the pass's fault."""
    try:
        present = verify_layers(module)
    except IrError as error:
        what = "; ".join(each.message for each in error.errors)
        raise _defect(step, given, f"the IR that it made does not verify: {what}", error.where) from error
    ours = {layer.name for layer in registry.layers()}
    undeclared = (present - before).intersection(ours).difference(step.produces)
    if undeclared:
        raise _defect(step, given, f"it made ops of {', '.join(sorted(undeclared))} and does not declare them")
    return present


def _defect(step: Pass, given: ir.OpView, what: str, place: Where | None = None) -> TinycError:
    """The error for a defect of `step`, tinyc's own or not, with a file that repeats it."""
    command = _reproducer(step, given, verify_each=True).save()
    message = f"pass '{step.name}' failed: {what}; to repeat it: {command}"
    return InternalError(message) if step.loaded_from is None else TinycError("FailedPass", message, place)


def _reproducer(step: Step, given: ir.OpView, verify_each: bool) -> Reproducer:
    load: tuple[str, ...] = ()
    if isinstance(step, Pass):
        if step.loaded_from is not None and not step.loaded_from.installed:
            load = (os.path.abspath(step.loaded_from.file),)
        with contextlib.suppress(TinycError):  # its file cannot be read: that is what is to be repeated
            step = step.alone()
    return Reproducer(f"builtin.module({step.text()})", located(given), verify_each, load)
