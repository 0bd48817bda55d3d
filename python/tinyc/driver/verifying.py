"""What `tinyc verify` does.

In: the arguments as `arguments` reads them. Out: text on stdout, and the exit status: 1 where two layers differ.
"""

import argparse

from tinyc.diagnostics import LINES, TinycError, Where
from tinyc.driver.commands import compiled_model, model_inputs
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.layer import require_reference
from tinyc.driver.onnx_runtime import onnxruntime_run
from tinyc.driver.program_text import in_file, program_argument, shown_argument
from tinyc.driver.progress import shown_progress
from tinyc.driver.running import judged, print_line, shown_remarks
from tinyc.driver.sources import read_program
from tinyc.driver.verification import verify_model
from tinyc.executors.signature import boundary_of
from tinyc.mlir import ir


def verify_command(arguments: argparse.Namespace) -> int:
    """Compare the layers down to the target's; name the first layer, value and element that differs."""
    first: str | None = None
    with shown_remarks(arguments):
        beside = None if arguments.runtime is None else onnxruntime_run(arguments.program, arguments.constant)
        against = None if arguments.against is None else _read_by_reference(arguments.against, arguments)
        model = compiled_model(arguments)
        _check_same_boundary(model, arguments.against, against)
        inputs = model_inputs(arguments, model, None if against is None else boundary_of(against))
        with shown_progress("verify"):
            for step in verify_model(model, inputs, against, beside):
                first = first or step.failure
                print_line("verify", step.title)
                for comparison in step.comparisons:
                    if comparison.kind == "output" or not comparison.ok:
                        print_line("", judged(comparison))
    print_line("result", "all layers agree" if first is None else f"FAILED, first at: {first}", LINES)
    return 0 if first is None else 1


def _read_by_reference(program: str, arguments: argparse.Namespace) -> ir.Module:
    """The program that the reference is to run, which a lowered one was made of: its inputs are those that are fixed.

    Raises:
        TinycError: it cannot be read; `UnsupportedTarget`: it is lowered too far.
    """
    with in_file(shown_argument(program)):
        module = read_program(program_argument(program), arguments.bind, arguments.constant)
        require_reference(module, "--against")
    return module


def _check_same_boundary(model: CompiledModel, program: str | None, against: ir.Module | None) -> None:
    """Check that two programs take and give the same.

    Raises:
        TinycError: `InputMismatch`.
    """
    if against is None or program is None:
        return
    own, other = model.signature, boundary_of(against).signature
    for kind, mine, theirs in (
        ("input", own.run_inputs, other.run_inputs),
        ("weight", own.weights, other.weights),
        ("output", own.outputs, other.outputs),
    ):
        named, wanted = ([(each.name, each.type.element) for each in parameters] for parameters in (mine, theirs))
        if named != wanted:
            shown = " and ".join(", ".join(f"{name}: {element}" for name, element in each) for each in (named, wanted))
            message = f"--against: {shown} are the {kind}s of the two; give the program that the dump was made of"
            raise TinycError("InputMismatch", message, Where(file=shown_argument(program)))
