"""What `tinyc run` does with a model, wherever it comes from; all of it where it comes from a file. No MLIR here.

In: a model, and the arguments as `arguments` reads them. Out: text on stdout, files, and the exit status.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from tinyc.diagnostics import Remark, TinycError, Where, collect_remarks, printable
from tinyc.driver.array_files import read_arrays, write_arrays
from tinyc.driver.load import load
from tinyc.driver.model import Model
from tinyc.driver.profile import start_log
from tinyc.driver.progress import shown_progress
from tinyc.executors.compare import Comparison
from tinyc.executors.elements import element_of
from tinyc.executors.random_arrays import random_arrays
from tinyc.importers.files import write_file
from tinyc.importers.weights_file import read_tensors
from tinyc.runtime.boundary import NamedTensor, Signature, boundary_of_program
from tinyc.text.table import print_table
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

_SHOWN_ELEMENTS = 6


def run_saved(arguments: argparse.Namespace) -> int:
    """Load a model, run it, and print the outputs.

    Raises:
        TinycError: what `load` raises; `InvalidOption`: an option is about compiling.
    """
    _require_no_compiling(arguments)
    with shown_remarks(arguments):
        started = time.perf_counter()
        model = load(arguments.program, arguments.target, arguments.arch, arguments.threads)
        require_simulated(arguments, model.target)
        print_line("model", f"{arguments.program} on {model.target}")
        print_line("load", f"{time.perf_counter() - started:.3f} s")
        if arguments.weights is not None:
            model.set_weights(given_weights(arguments.weights, model.signature))
        if arguments.self_test:
            return _tested(model, arguments.program)
        if arguments.inputs is None:
            print_line("inputs", f"random, seed {arguments.random}")
            inputs = _random(model, arguments)
        else:
            inputs = given_inputs(arguments.inputs, model.signature)
        run_and_print(model, inputs, arguments)
    return 0


def _tested(model: Model, program: str) -> int:
    """Run the self-test of a model, and say what became of each output; 1 where one is too far off."""
    try:
        with shown_progress("test"):
            comparisons = model.self_test()
    except TinycError as error:
        raise error.at(Where(file=program)) from None
    for each in comparisons:
        print_line("check", judged(each))
    wrong = next((each for each in comparisons if not each.ok), None)
    print_line("result", "the self-test passes" if wrong is None else f"FAILED, first at: {wrong}")
    return 0 if wrong is None else 1


def judged(comparison: Comparison) -> str:
    """A comparison, and whether it is good."""
    return f"{comparison}: {'ok' if comparison.ok else 'FAILED'}"


def _require_no_compiling(arguments: argparse.Namespace) -> None:
    """Check that no option is given that a model has no use for.

    Raises:
        TinycError: `InvalidOption`.
    """
    of_programs = ("plan", "fuse", "no_fuse", "fusion", "line_info", "check")
    of_layers = ("dump", "dump_dir", "dump_constants", "stock_printing")
    given = [name for name in (*of_programs, *of_layers) if getattr(arguments, name)]
    if arguments.inputs is not None and arguments.bind:
        given.append("bind")  # which says here how large random inputs are
    if arguments.self_test:
        _require_own_inputs(arguments)
    if given:
        option = f"--{given[0].replace('_', '-')}"
        message = f"{option}: the model is compiled, and has neither program nor layers; leave it out"
        raise TinycError("InvalidOption", message, Where(file=arguments.program))


def _require_own_inputs(arguments: argparse.Namespace) -> None:
    """Check that nothing is asked of a self-test but whether it passes.

    Raises:
        TinycError: `InvalidOption`.
    """
    others = ("inputs", "random", "bind", "weights", "outputs", "profile", "log", "time")
    given = next((name for name in others if getattr(arguments, name)), None)
    if given is not None:
        message = f"--{given}: a self-test runs on inputs and weights of the model's own; leave it out"
        raise TinycError("InvalidOption", message, Where(file=arguments.program))


def _random(model: Model, arguments: argparse.Namespace) -> dict[str, np.ndarray]:
    """Random inputs of the sizes that `--bind` says."""
    try:
        boundary = boundary_of_program(model.artifact().program).with_sizes(arguments.bind, "bind")
    except TinycError as error:
        raise error.at(Where(file=arguments.program)) from None
    with shown_progress("inputs"):
        return random_arrays(boundary, arguments.random)


def given_inputs(path: Path, signature: Signature) -> dict[str, np.ndarray]:
    """The inputs that a file has.

    Raises:
        TinycError: `UnreadableFile`.
    """
    with shown_progress("inputs"):
        arrays = read_arrays(path)
    print_line("inputs", str(path))
    return _typed(arrays, signature)


def given_weights(path: Path, signature: Signature) -> dict[str, np.ndarray]:
    """The weights that a file has, `.npz` or safetensors.

    Raises:
        TinycError: `UnreadableFile`.
    """
    return _typed(read_tensors(path), signature)


def weights_apart(
    names: Iterable[str], arrays: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Arrays by name as weights and as the inputs of a run."""
    weights = set(names)
    return (
        {name: array for name, array in arrays.items() if name in weights},
        {name: array for name, array in arrays.items() if name not in weights},
    )


def _typed(arrays: dict[str, np.ndarray], signature: Signature) -> dict[str, np.ndarray]:
    """Arrays of a file, those of bf16 parameters as bf16."""
    given = [each for each in signature.inputs if each.name in arrays]
    return arrays | {each.name: _as_bf16(each, arrays[each.name]) for each in given}


def _as_bf16(parameter: NamedTensor, array: np.ndarray) -> np.ndarray:
    """An array from a file as bf16 where that is the input's type: a file holds only its bits."""
    if parameter.type.element == "bf16" and array.dtype in (np.dtype(np.uint16), np.dtype("V2")):
        return array.view(ElementType.BF16.dtype)
    return array


def run_and_print(model: Model, inputs: dict[str, np.ndarray], arguments: argparse.Namespace) -> dict[str, np.ndarray]:
    """Run a model, print its outputs and what its regions took, write what is to be written, and return the outputs.

    Weights among the inputs are set; random ones only where they have not been.
    """
    if arguments.log is not None:
        start_log(arguments.log)
    weights, inputs = weights_apart(model.weights, inputs)
    set_already = set(weights) - {*model.missing_weights} if arguments.inputs is None else ()
    model.set_weights({name: each for name, each in weights.items() if name not in set_already})
    started = time.perf_counter()
    clocked = (arguments.device or "") if arguments.time else None
    is_profiled = arguments.profile or arguments.log is not None or arguments.time
    with shown_progress("run"):
        profile = model.profile_named(inputs, clocked) if is_profiled else None
        outputs = model.run_named(inputs) if profile is None else profile.outputs
    print_line("run", f"{time.perf_counter() - started:.3f} s")
    for name, value in outputs.items():
        print_line("output", f"{name}: {_described(value)}")
    if profile is not None and arguments.profile:
        print_table(profile.table)
    if profile is not None and arguments.time:
        print_table(profile.clock_table)
    if arguments.outputs is not None:
        write_arrays(arguments.outputs, outputs)
    if profile is not None and arguments.log is not None:
        profile.append_to(arguments.log)
    return outputs


def require_simulated(arguments: argparse.Namespace, target: str) -> None:
    """Check that `--time` is asked of what the simulator runs.

    Raises:
        TinycError: `InvalidOption`.
    """
    if arguments.time and target != "sim":
        measured = "; --profile measures there" if target in ("cpu", "cuda") else ""
        message = f"--time: the clock times what the simulator runs, and the target is '{target}'{measured}; "
        message += "give --target sim"
        raise TinycError("InvalidOption", message, Where(file=arguments.program))


def _described(value: np.ndarray) -> str:
    """Type, shape and the first few elements of an array."""
    element = element_of(value.dtype)
    shown = value.ravel()[:_SHOWN_ELEMENTS].tolist()
    first = " ".join(f"{number:.6g}" if isinstance(number, float) else f"{number:d}" for number in shown)
    more = " …" if value.size > _SHOWN_ELEMENTS else ""
    assert element is not None, "an executor gives arrays of element types"
    return f"{TensorType(element, value.shape)}  {first}{more}"


@contextlib.contextmanager
def shown_remarks(arguments: argparse.Namespace) -> Iterator[None]:
    """Print and write the remarks that are made inside, also where an error ends it."""
    with collect_remarks() as remarks:
        try:
            yield
        finally:
            _report(remarks, arguments)


def _report(remarks: list[Remark], arguments: argparse.Namespace) -> None:
    if arguments.remarks:
        sys.stdout.flush()  # what has been said before stands before them, also where both go to one file
        for remark in remarks:
            sys.stderr.write(f"{remark}\n")
    if arguments.remarks_json is not None:
        write_file(arguments.remarks_json, "".join(f"{remark.to_json()}\n" for remark in remarks))


def print_line(title: str, text: str, kept: str = "") -> None:
    """Print a line of what a command tells; characters that are not printable are escaped, but those in `kept`."""
    sys.stdout.write(f"{title:<9}{printable(text, kept)}\n")
