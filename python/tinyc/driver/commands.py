"""What `tinyc run` and `tinyc compile` do.

In: the arguments as `arguments` reads them. Out: text on stdout, files, and the exit status. MLIR is imported where a
program has not been compiled before.
"""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tinyc.diagnostics import TinycError, Where
from tinyc.driver.compile import compile_program
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.program_text import in_file, program_argument, shown_argument
from tinyc.driver.progress import shown_progress
from tinyc.driver.request import architectures_of, pass_options, request_for
from tinyc.driver.running import (
    given_inputs,
    given_weights,
    judged,
    print_line,
    require_simulated,
    run_and_print,
    shown_remarks,
)
from tinyc.executors.compare import compare_all
from tinyc.executors.random_arrays import input_shapes, random_arrays
from tinyc.fusion.request import fusion_request
from tinyc.importers.weights_file import tensor_names
from tinyc.plan.source import split_plan
from tinyc.runtime.artifact import artifact_bytes, write_artifact
from tinyc.runtime.boundary import Boundary
from tinyc.runtime.cpu_features import checked_cpu
from tinyc.runtime.cuda_driver import require_gpu

if TYPE_CHECKING:
    from tinyc.mlir import ir

_DUMP_FOLDER = Path("tinyc-dump")


def run_command(arguments: argparse.Namespace) -> int:
    """Compile, run, print the outputs, and compare them with the reference where asked to."""
    with shown_remarks(arguments):
        if arguments.self_test:
            message = "--self-test: a program has no inputs of its own; tinyc compile -o FILE.tinyc --self-test makes "
            message += "a model that has, and --check compares with the reference"
            raise TinycError("InvalidOption", message, Where(file=shown_argument(arguments.program)))
        require_simulated(arguments, arguments.target)
        model = compiled_model(arguments, uses_cache=not arguments.check)
        given = model_inputs(arguments, model)
        outputs = run_and_print(model, given, arguments)
        return _check(model, given, outputs) if arguments.check else 0


def compile_command(arguments: argparse.Namespace) -> int:
    """Compile, and write what is asked for: the model, layers, a C library; where nothing is, say what there is."""
    for option, path in (("-o", arguments.output), ("--emit-lib", arguments.emit_lib)):
        _require_another_file(option, path, arguments.program)
    with shown_remarks(arguments):
        model = compiled_model(arguments, uses_cache=arguments.self_test is None)
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


def compiled_model(arguments: argparse.Namespace, uses_cache: bool = False) -> CompiledModel:
    """Compile the program of a command line, and say how long it took and what was dumped.

    Where it `uses_cache`, and no layer is asked for, what has been compiled before is taken.
    """
    started = time.perf_counter()
    dump_folder = arguments.dump_dir or _DUMP_FOLDER
    is_dumped = arguments.dump is not None or arguments.dump_dir is not None
    line_info = dump_folder if arguments.line_info else None
    target, cpu = arguments.target, arguments.cpu if "cpu" in arguments else None
    if cpu is not None and target != "cpu":
        message = f"--cpu: target '{target}' makes no code for a CPU; leave it out, or compile for target cpu"
        raise TinycError("UnsupportedTarget", message)
    cpu = checked_cpu(cpu)
    for each in architectures_of(target, arguments.arch):  # errors there come first
        pass_options(target, each, split_plan(arguments.plan)[0], line_info)
    with shown_progress("compile"), in_file(shown_argument(arguments.program)):
        source = program_argument(arguments.program)
        request = request_for(
            target,
            arguments.arch,
            arguments.bind,
            arguments.plan,
            fusion_request(";".join(arguments.fuse), ";".join(arguments.no_fuse), arguments.fusion),
            arguments.sizes,
            None if arguments.weights is None else tensor_names(arguments.weights),
            None if getattr(arguments, "against", None) else arguments.constant,
            line_info,
        )
        model = compile_program(
            source,
            request,
            getattr(arguments, "threads", None),
            line_info=line_info,
            uses_cache=uses_cache and not is_dumped,
            inspect=lambda module: _inspect(module, arguments),
        )
        if model.from_cache and arguments.command != "compile":
            if arguments.inputs is None:
                input_shapes(model.boundary)
            if target == "cuda":
                require_gpu()
        if arguments.weights is not None:
            model.set_weights(given_weights(arguments.weights, model.signature))
    seconds = time.perf_counter() - started
    print_line("program", f"{shown_argument(arguments.program)} on {target}")
    print_line("layers", " -> ".join(model.layers))
    print_line("compile", f"{seconds:.3f} s{', from the cache' if model.from_cache else ''}")
    if is_dumped:
        with shown_progress("dump"):
            paths = model.dump(dump_folder, arguments.dump, arguments.stock_printing, arguments.dump_constants, cpu)
        for path in paths:
            print_line("dump", str(path))
    return model


def _inspect(module: "ir.Module", arguments: argparse.Namespace) -> None:
    """Check a program that has been read, before the compiler takes its time.

    Raises:
        TinycError: what is asked for needs more than it has.
    """
    from tinyc.driver.layer import entry_layer, require_reference
    from tinyc.executors.random_inputs import static_shapes

    if arguments.command == "verify" and arguments.against is None:
        require_reference(module, "verify")
    elif "check" in arguments and arguments.check:
        require_reference(module, "--check")
    sizes = arguments.self_test if arguments.command == "compile" else None
    if sizes is not None:
        require_reference(module, "--self-test")
    if arguments.inputs is None and (arguments.command != "compile" or sizes is not None):
        entry_layer(module, arguments.target)
        static_shapes(module, sizes)
    if arguments.target == "cuda" and arguments.command != "compile":
        require_gpu()


def model_inputs(
    arguments: argparse.Namespace, model: CompiledModel, boundary: Boundary | None = None
) -> dict[str, np.ndarray]:
    """The inputs of a command line: from a file, or random, for the model or what `boundary` says; weights are among.

    Raises:
        TinycError: `UnreadableFile`, `UnboundSymbol`, `OutOfMemory`.
    """
    if arguments.inputs is None:
        print_line("inputs", f"random, seed {arguments.random}")
        with shown_progress("inputs"):
            inputs = random_arrays(boundary or model.boundary, arguments.random)
    else:
        inputs = given_inputs(arguments.inputs, model.signature)
    return inputs if arguments.weights is None else inputs | given_weights(arguments.weights, model.signature)


def _check(model: CompiledModel, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> int:
    from tinyc.executors import reference

    module = model.lowering.module(model.lowering.entry)
    with shown_progress("check"):
        expected = reference.evaluate_module(module, inputs)
        comparisons = compare_all(outputs, expected, model.lowering.tolerances(inputs))
    for comparison in comparisons:
        print_line("check", judged(comparison))
    return 0 if all(comparison.ok for comparison in comparisons) else 1
