"""What `tinyc run`, `tinyc compile` and `tinyc verify` do.

In: the arguments as `arguments` reads them. Out: text on stdout, files, and the exit status.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tinyc.diagnostics import LINES, TinycError, Where
from tinyc.driver.compile import architectures_of, compile, pass_options
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.layer import entry_layer, require_reference
from tinyc.driver.onnx_runtime import onnxruntime_run
from tinyc.driver.progress import shown_progress
from tinyc.driver.running import (
    given_inputs,
    given_weights,
    judged,
    print_line,
    require_simulated,
    run_and_print,
    shown_remarks,
)
from tinyc.driver.sources import in_file, program_argument, shown_argument
from tinyc.driver.verification import verify_model
from tinyc.executors import reference
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs, static_shapes
from tinyc.executors.signature import boundary_of
from tinyc.fusion.request import fusion_request
from tinyc.importers.weights_file import tensor_names
from tinyc.mlir import ir
from tinyc.plan.source import split_plan
from tinyc.runtime.artifact import artifact_bytes, write_artifact
from tinyc.runtime.cuda_driver import require_gpu

_DUMP_FOLDER = Path("tinyc-dump")


def run_command(arguments: argparse.Namespace) -> int:
    """Compile, run, print the outputs, and compare them with the reference where asked to."""
    with shown_remarks(arguments):
        if arguments.self_test:
            message = "--self-test: a program has no inputs of its own; tinyc compile -o FILE.tinyc --self-test makes "
            message += "a model that has, and --check compares with the reference"
            raise TinycError("InvalidOption", message, Where(file=shown_argument(arguments.program)))
        require_simulated(arguments, arguments.target)
        model = compiled_model(arguments)
        given = model_inputs(arguments, model)
        outputs = run_and_print(model, given, arguments)
        return _check(model, given, outputs) if arguments.check else 0


def compile_command(arguments: argparse.Namespace) -> int:
    """Compile, and write what is asked for: the model, layers, a C library; where nothing is, say what there is."""
    for option, path in (("-o", arguments.output), ("--emit-lib", arguments.emit_lib)):
        _require_another_file(option, path, arguments.program)
    with shown_remarks(arguments):
        model = compiled_model(arguments)
        if arguments.self_test is not None:
            _add_self_test(model, arguments)
        if arguments.target != "reference" or arguments.output is not None or arguments.cpu is not None:
            artifact = model.artifact(arguments.cpu)
            if model.missing_weights:
                missing = ", ".join(model.missing_weights)
                print_line("weights", f"not set: {missing}; give them by --weights FILE, or when it runs")
            if arguments.output is not None:
                size_bytes = write_artifact(arguments.output, artifact)
                print_line("model", f"{arguments.output}: {artifact}; {size_bytes} bytes")
            elif arguments.dump is None and arguments.dump_dir is None and arguments.emit_lib is None:
                print_line("model", f"{artifact}; -o FILE.tinyc writes it, {artifact_bytes(artifact)} bytes")
        if arguments.emit_lib is not None:
            for path in model.emit_library(arguments.emit_lib, arguments.prefix or "model", arguments.cpu):
                print_line("library", str(path))
    return 0


def _add_self_test(model: CompiledModel, arguments: argparse.Namespace) -> None:
    """Give a model the self-test that is asked for, and say what it is."""
    inputs = None if arguments.inputs is None else given_inputs(arguments.inputs, model.signature)
    with in_file(shown_argument(arguments.program)), shown_progress("test"):
        test = model.add_self_test(inputs, arguments.self_test, arguments.random or 0)
    made = f"random inputs, seed {arguments.random or 0}" if inputs is None else "the inputs that are given"
    print_line("test", f"{test}: {made}; expected outputs by the reference")


def _require_another_file(option: str, path: Path | None, program: str) -> None:
    """Check that what is written is not the program itself.

    Raises:
        TinycError: `InvalidOption`.
    """
    if path is not None and path.exists() and Path(program).exists() and path.samefile(program):
        message = f"{option} {path}: that is the program, which would be gone; name another file"
        raise TinycError("InvalidOption", message)


def verify_command(arguments: argparse.Namespace) -> int:
    """Compare the layers down to the target's; name the first layer, value and element that differs."""
    first: str | None = None
    with shown_remarks(arguments):
        beside = None if arguments.runtime is None else onnxruntime_run(arguments.program, arguments.constant)
        against = None if arguments.against is None else _read_by_reference(arguments.against, arguments)
        model = compiled_model(arguments)
        _check_same_boundary(model, arguments.against, against)
        inputs = model_inputs(arguments, model, against)
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
        module = program_argument(program, arguments.bind, arguments.constant)
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


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": run_command,
    "compile": compile_command,
    "verify": verify_command,
}


def compiled_model(arguments: argparse.Namespace) -> CompiledModel:
    """Compile the program of a command line, and say how long it took and what was dumped."""
    started = time.perf_counter()
    dump_folder = arguments.dump_dir or _DUMP_FOLDER
    line_info = dump_folder if arguments.line_info else None
    for each in architectures_of(arguments.target, arguments.arch):  # errors there come first
        pass_options(arguments.target, each, split_plan(arguments.plan)[0], line_info)
    with shown_progress("compile"), in_file(shown_argument(arguments.program)):
        constants = None if getattr(arguments, "against", None) else arguments.constant
        module = program_argument(arguments.program, arguments.bind, constants)
        if arguments.command == "verify" and arguments.against is None:
            require_reference(module, "verify")
        elif "check" in arguments and arguments.check:
            require_reference(module, "--check")
        sizes = arguments.self_test if arguments.command == "compile" else None
        if sizes is not None:
            require_reference(module, "--self-test")
        if arguments.inputs is None and (arguments.command != "compile" or sizes is not None):
            entry_layer(module, arguments.target)  # before the compiler takes its time
            static_shapes(module, sizes)
        fusion = fusion_request(";".join(arguments.fuse), ";".join(arguments.no_fuse), arguments.fusion)
        target, arch, plan = arguments.target, arguments.arch, arguments.plan
        if target == "cuda" and arguments.command != "compile":
            require_gpu()
        asked = {"plan": plan, "line_info": line_info, "fusion": fusion, "sizes": arguments.sizes}
        if arguments.weights is not None:
            asked["weights"] = tensor_names(arguments.weights)
        model = compile(module, target=target, arch=arch, **asked)
        if arguments.weights is not None:
            model.set_weights(given_weights(arguments.weights, model.signature))
    seconds = time.perf_counter() - started
    print_line("program", f"{shown_argument(arguments.program)} on {arguments.target}")
    print_line("layers", " -> ".join(model.layers))
    print_line("compile", f"{seconds:.3f} s")
    if arguments.dump is not None or arguments.dump_dir is not None:
        with shown_progress("dump"):
            paths = model.dump(dump_folder, arguments.dump, arguments.stock_printing, arguments.dump_constants)
        for path in paths:
            print_line("dump", str(path))
    return model


def model_inputs(
    arguments: argparse.Namespace, model: CompiledModel, program: ir.Module | None = None
) -> dict[str, np.ndarray]:
    """The inputs of a command line: from a file, or random; weights are among them."""
    if arguments.inputs is None:
        print_line("inputs", f"random, seed {arguments.random}")
        with shown_progress("inputs"):
            inputs = random_inputs(program or model.lowering.module(model.lowering.entry), arguments.random)
    else:
        inputs = given_inputs(arguments.inputs, model.signature)
    return inputs if arguments.weights is None else inputs | given_weights(arguments.weights, model.signature)


def _check(model: CompiledModel, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> int:
    module = model.lowering.module(model.lowering.entry)
    with shown_progress("check"):
        expected = reference.evaluate_module(module, inputs)
        comparisons = compare_all(outputs, expected, model.lowering.tolerances(inputs))
    for comparison in comparisons:
        print_line("check", judged(comparison))
    return 0 if all(comparison.ok for comparison in comparisons) else 1
