"""ONNX's node tests (`onnx.backend.test`) as programs: what each takes and expects, and how it is run on a target.

`tools/onnx-conformance` runs them all, the tests a sample.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any
from zlib import crc32

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from tinyc.onnx_backend import CompiledRep
from tinyc.runtime import assembler

ARCHITECTURES = ("sm_80", "sm_90a")


def node_tests(pattern: str = "", files: Iterable[str] = ()) -> list[Any]:
    """The tests whose names match a regular expression, in an order in which any part is like the whole.

    `files` of `onnx.backend.test.case.node`, such as "argmax", are the only ones that are run to make tests, if given.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in files:
            import_module(f"{node.__name__}.{each}")
        made = node.__dict__["_NodeTestCases"] if files else load_model_tests(kind="node")
    found = [each for each in made if re.search(pattern, each.name)]
    return sorted(found, key=lambda each: crc32(each.name.encode()))


def data_sets(case: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """The inputs and the expected outputs of each run of a test; sequences and optionals as ONNX has them."""
    for inputs, expected in case.data_sets:
        yield _arrays(inputs), _arrays(expected)


def _arrays(given: Any) -> list[Any]:
    return [numpy_helper.to_array(each) if isinstance(each, TensorProto) else each for each in given]


def elements(case: Any) -> int:
    """How many elements the inputs and the expected outputs of a test have together, in its largest run."""
    return max(_size(inputs) + _size(expected) for inputs, expected in data_sets(case))


def _size(given: Any) -> int:
    return sum(map(_size, given)) if isinstance(given, list | tuple) else np.size(given)


def is_sampled(case: Any, every: int) -> bool:
    """Whether a test is in the sample that has one of `every` tests, by a hash of its name; 0 is no sample."""
    return every > 0 and crc32(case.name.encode()) % every == 0


def run_and_compare(case: Any, prepared: CompiledRep) -> None:
    """Run a test on all of its data.

    Raises:
        TinycError: `SimulationFinding` among others: what the run raises.
        AssertionError: the outputs are not the expected ones.
    """
    for inputs, expected in data_sets(case):
        Runner.assert_similar_outputs(expected, list(prepared.run(inputs)), case.rtol, case.atol)


def prepared_for(case: Any, architecture: str, is_assembled: bool = False) -> CompiledRep:
    """A test, compiled to PTX for an architecture and to be run on the simulator; `is_assembled`: by ptxas, if any.

    Raises:
        TinycError: as `tinyc.compile` and `assembler.assemble`.
    """
    prepared = CompiledRep(case.model, target="sim", arch=architecture)
    for inputs, _ in data_sets(case):
        ptx = prepared.model_for(inputs).text("ptx")
        if is_assembled and assembler.find_ptxas() is not None and ".entry" in ptx:
            assembler.assemble(ptx, architecture)
    return prepared
