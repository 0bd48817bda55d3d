"""The self-test of a model: inputs, the outputs that the reference gives for them, and how far those may be apart.

In: arrays by name, and tolerances. Out: a `SelfTest`, and what a file has of it: a part of the manifest, and sections.
Nothing here runs it; `Model.self_test` does.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError, counted
from tinyc.executors.tolerance import Tolerance
from tinyc.runtime.boundary import NamedTensor, boundary_of_program
from tinyc.runtime.container import MalformedModel
from tinyc.runtime.program import Program
from tinyc.runtime.stored_arrays import arrays_in, stored_arrays
from tinyc.vocabulary.element_type import element_of

_INPUT, _OUTPUT = "test.input.", "test.output."
#: What inputs and expected outputs may be together, so that a file stays one of weights and code.
SELF_TEST_LIMIT_BYTES = 2**26


@dataclass(frozen=True)
class SelfTest:
    """Inputs, expected outputs, and a tolerance for each of these, by their names."""

    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    tolerances: Mapping[str, Tolerance]

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All its arrays."""
        return (*self.inputs.values(), *self.outputs.values())

    @property
    def size_bytes(self) -> int:
        """The bytes of all its arrays."""
        return sum(array.nbytes for array in self.arrays)

    def __str__(self) -> str:
        inputs, outputs = counted(len(self.inputs), "input"), counted(len(self.outputs), "output")
        return f"{inputs}, {outputs}, {self.size_bytes} bytes"


def require_within_limit(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    """Check that a file may hold these arrays.

    Raises:
        TinycError: `InvalidOption`.
    """
    given, expected = (sum(array.nbytes for array in arrays.values()) for arrays in (inputs, outputs))
    if given + expected > SELF_TEST_LIMIT_BYTES:
        message = f"self-test: its inputs have {given} bytes and its outputs {expected}, and a model holds at most "
        raise TinycError("InvalidOption", f"{message}{SELF_TEST_LIMIT_BYTES} bytes of both; test it on smaller sizes")


def self_test_content(test: SelfTest) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """What a manifest and the sections of a file have of a self-test."""
    inputs, held = stored_arrays(_INPUT, test.inputs)
    outputs, expected = stored_arrays(_OUTPUT, test.outputs)
    for each in outputs:
        allowed = test.tolerances[each["name"]]
        each |= {"rtol": allowed.rtol, "atol": allowed.atol}
    return {"self_test": {"inputs": inputs, "outputs": outputs}}, {**held, **expected}


def self_test_in(described: Mapping[str, Any], sections: Mapping[str, memoryview], program: Program) -> SelfTest:
    """The self-test of a file whose manifest describes it so.

    Raises:
        MalformedModel: its arrays or tolerances are not those of such a program.
        KeyError, TypeError, ValueError: something in it is missing, or of another kind.
    """
    inputs = arrays_in(_INPUT, described["inputs"], sections)
    outputs = arrays_in(_OUTPUT, described["outputs"], sections)
    signature = boundary_of_program(program).signature
    for kind, arrays, declared in (("input", inputs, signature.run_inputs), ("output", outputs, signature.outputs)):
        _require_declared(kind, arrays, declared)
    allowed = {each["name"]: _tolerance(each) for each in described["outputs"]}
    return SelfTest(inputs, outputs, allowed)


def _require_declared(kind: str, arrays: Mapping[str, np.ndarray], declared: tuple[NamedTensor, ...]) -> None:
    if sorted(arrays) != sorted(each.name for each in declared):
        wanted = ", ".join(each.name for each in declared)
        raise MalformedModel(f"its self-test has the {kind}s {', '.join(arrays)}, and the program {wanted}")
    for each in declared:
        array, element = arrays[each.name], each.type.element
        if element_of(array.dtype) != element or array.ndim != len(each.type.shape):
            found = f"{element_of(array.dtype)} {list(array.shape)}"
            raise MalformedModel(f"its self-test has {found} for {kind} {each}")


def _tolerance(described: Mapping[str, Any]) -> Tolerance:
    rtol, atol = (described[name] for name in ("rtol", "atol"))
    if not all(type(each) in (int, float) and math.isfinite(each) and each >= 0 for each in (rtol, atol)):
        raise MalformedModel(f"the tolerance of output '{described['name']}' is rtol {rtol}, atol {atol}")
    return Tolerance(rtol, atol)
