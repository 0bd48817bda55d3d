"""What is printed for people reads back as what was printed: every layer of random programs, on both ways down.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import re

import pytest

from programs.strategies import programs
from tinyc import text
from tinyc.driver.lowering import Lowering
from tinyc.importers import tiny_json

LAYERS = {
    "cpu": ("tiny", "indexbook", "poly_view", "region", "exec", "loops"),
    "sim": ("plan", "gpu", "exec", "nvvm"),
}
#: Names that MLIR makes up; where one clashes, its number depends on the clashes before it.
MADE_UP = re.compile(r"%(?:cst|true|false|low|high|c-?\d+(?:_[a-z]+\d+)?)(?:_\d+)?\b")


@pytest.mark.parametrize("target", LAYERS)
def test_random_programs_print_parse_and_print_the_same(random_examples, target):
    @random_examples(programs(), 60)
    def check(program):
        lowering = Lowering(tiny_json.import_program(program.document, bind=program.bind), target)
        for layer in LAYERS[target]:
            printed = lowering.text(layer)
            read = text.parse(printed)
            assert text.print_ir(read, stock=True) == text.print_ir(lowering.module(layer), stock=True), layer
            assert MADE_UP.sub("%", text.print_ir(read).rstrip()) == MADE_UP.sub("%", printed.rstrip()), layer

    check()
