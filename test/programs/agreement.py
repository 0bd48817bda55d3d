"""Whether what a random program gave agrees with the reference: each output within what is allowed for its type."""

import json

from tinyc.executors.compare import compare
from tinyc.executors.rounding import output_tolerances
from tinyc.executors.tolerance import Tolerance


def assert_agree(program, actual, expected, module):
    """Compare the outputs by name; `module` is the `program` of `strategies` at the Tiny layer.

    An output whose bounds say that it is exact must be equal bit for bit.
    """
    derived = output_tolerances(module, program.inputs)
    assert list(actual) == list(expected) == list(program.errors)
    for name, error in program.errors.items():
        tolerance = derived[name] if error else Tolerance()
        tolerance = Tolerance(tolerance.rtol, max(tolerance.atol, error))
        comparison = compare(name, actual[name], expected[name], tolerance)
        assert comparison.ok, f"{comparison}\n{json.dumps(program.document)}"
