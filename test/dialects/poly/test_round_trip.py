"""The text of a Poly-View reads back as the data that it was made of."""

import json

import pytest
from hypothesis import given, settings

from example_bindings import BIND, CONV, EXAMPLES
from strategies import programs
from tinyc import passes, pipeline, text
from tinyc.analysis.graphs import main_function
from tinyc.analysis.poly_view import poly_view
from tinyc.dialects.poly.decode import decode_view
from tinyc.dialects.poly.verify import views
from tinyc.importers import tiny_json
from tinyc.sources import load

#: What a program needs to be read; all other sizes stay symbols.
NEEDED = {"conv2d": CONV, "cumulative_sum": {"K": 7}}


def read_back(module):
    """Return the view of the module's function and what its text says, parsed and verified."""
    with module.context:
        view = poly_view(main_function(module))
        pipeline.parse("tiny-to-poly").run(module)
        again = text.parse(module.operation.get_asm(assume_verified=True))
        passes.verify_layers(again)
        (op,) = views(again)
        return view, decode_view(op)


@pytest.mark.parametrize("name", BIND)
def test_the_views_of_the_examples(name):
    view, again = read_back(load(EXAMPLES / f"{name}.json", NEEDED.get(name)))
    assert again == view


@settings(max_examples=60)
@given(programs())
def test_the_views_of_random_programs(program):
    view, again = read_back(tiny_json.load(json.dumps(program.document)))
    assert again == view
