"""Builds small programs for the tests of the executors."""

import pytest

from tinyc.executors import reference
from tinyc.importers import tiny_json


def _input(name, dtype, shape):
    return {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": dtype, "shape": shape}}


@pytest.fixture
def program():
    """Return a function that makes a Tiny module of inputs (name → dtype, shape) and nodes (id, uop, src, arg)."""

    def make(inputs, *nodes, outputs=None):
        uops = [_input(name, dtype, shape) for name, (dtype, shape) in inputs.items()]
        uops += [dict(zip(("id", "uop", "src", "arg"), node, strict=False)) for node in nodes]
        return tiny_json.import_program({"uops": uops} | ({"outputs": outputs} if outputs else {}))

    return make


@pytest.fixture
def apply(program):
    """Return a function that runs one op on arrays of the given dtypes."""

    def run(uop, arg, *operands, oracle=False):
        names = [f"x{position}" for position in range(len(operands))]
        inputs = {name: (dtype, list(array.shape)) for name, (dtype, array) in zip(names, operands, strict=True)}
        module = program(inputs, ("y", uop, names, arg))
        arrays = {name: array for name, (_, array) in zip(names, operands, strict=True)}
        results = reference.evaluate_module(module, arrays, oracle=oracle)
        return results["y"] if len(results) == 1 else tuple(results.values())

    return run
