"""The key of a region: what counts in it, and what does not."""

import subprocess
import sys

import pytest

from tinyc import text
from tinyc.mlir import ir
from tinyc.plan.key import region_key
from tinyc.plan.table import is_region_key

KERNEL = """
"region.kernel"() ({{
^bb0(%{x}: !region.memref<{tensor}, [1], 64, true>, %y: !region.memref<{tensor}, [1], 64, true>):
  %0 = "region.read"(%{x}) : (!region.memref<{tensor}, [1], 64, true>) -> {tensor}
  %1 = "tiny.{op}"(%0) : ({tensor}) -> {tensor} loc("here")
  "region.yield"(%1, %y) {{materialize = "gmem"}} : ({tensor}, !region.memref<{tensor}, [1], 64, true>) -> ()
  omp.terminator
}}) {{{plan}sym_name = "{name}"}} : () -> ()
"""


def written(x="x", tensor="tensor<4xf32>", op="neg", plan="", name="k"):
    return KERNEL.format(x=x, tensor=tensor, op=op, plan=plan, name=name)


def kernel(**changes):
    module = text.parse(written(**changes))
    return module, module.body.operations[0]


def key(**changes):
    _, op = kernel(**changes)
    return region_key(op)


def test_a_key_has_the_form_of_one():
    assert is_region_key(key())


@pytest.mark.parametrize("changes", [{"name": "other"}, {"x": "value"}, {"plan": "plan = {stages = 2}, "}])
def test_names_and_plans_do_not_count(changes):
    assert key(**changes) == key()


@pytest.mark.parametrize("changes", [{"tensor": "tensor<5xf32>"}, {"op": "sqrt"}, {"plan": "other = 1, "}])
def test_what_the_region_is_counts(changes):
    assert key(**changes) != key()


def test_locations_do_not_count():
    first, second = (text.parse(written(), name) for name in "ab")
    assert region_key(first.body.operations[0]) == region_key(second.body.operations[0])


def test_the_kernel_is_left_as_it_is():
    module, op = kernel(plan="plan = {stages = 2}, ")
    before = str(module)
    with op.context, ir.Location.unknown(), ir.InsertionPoint(module.body):
        region_key(op)
    assert str(module) == before


def test_another_process_finds_the_same_key():
    program = f"""
from tinyc import text
from tinyc.plan.key import region_key
module = text.parse({written()!r})
print(region_key(module.body.operations[0]))
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == key()
