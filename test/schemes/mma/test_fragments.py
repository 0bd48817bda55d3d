"""Operand A made in registers of warpgroups: what comes out, what is moved, how it is decided, the machine code."""

import json
import re

import pytest

import tinyc
from mma_kernels.sass import sass_of
from parameters import in_turn
from programs.products import Product
from ptxsim_cases.sass_text import needs_sass_tools
from tinyc.dialects.gpu.dialect import staged_tile
from tinyc.dialects.gpu.kernel import gpu_kernels_of
from tinyc.dialects.gpu.statements import AllocSmemOp, LoadFragmentOp, WarpBarrierOp
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.gpu.program import ThreadsExecutable
from tinyc.executors.tolerance import Tolerance
from tinyc.mlir.bodies import nested
from tinyc.passes.runner import copy_module

_WIDE = {"tile": [128, 64, 64], "warp_tile": "64x64", "stages": 2, "cluster": [1, 1]}
KERNELS = {
    "simple": {**_WIDE, "schedule": "simple"},
    "cooperative": {**_WIDE, "schedule": "cooperative"},
    "pingpong": {**_WIDE, "tile": [64, 64, 64], "schedule": "pingpong"},
    "two_of_64_rows": {**_WIDE, "warp_tile": "128x64", "schedule": "cooperative"},
    "beside": {**_WIDE, "tile": [64, 128, 64], "schedule": "simple"},
    "slices": {**_WIDE, "schedule": "cooperative", "split_k": 2, "algo_choice": {"matmul": "splitk_serial"}},
}
#: Of the tiles' sides no multiples; k ends within a slice.
SIZES = (144, 80, 208)


def compiled(product, plan):
    precision = {"precision": "tf32"} if product.element == "fp32" else {}
    fields = {"scheme": "mma", **plan, **precision}
    return tinyc.compile(json.dumps(product.document), target="sim", arch="sm_90a", plan=fields)


def statements(model, kind):
    found = [op.opview for top in model.lowering.module("gpu").body.operations for op in nested(top)]
    return [op for op in found if isinstance(op, kind)]


def executable(model):
    """The statements as numpy runs them."""
    return ThreadsExecutable(model.lowering.program(), model.lowering.module("exec"), model.lowering.constants())


@in_turn("kernel", "layout", KERNELS, ["nn", "tn"])
def test_a_prologue_is_computed_in_registers(kernel, layout):
    """It adds to zeros beyond k, too: they are zeros nevertheless."""
    product = Product("fp16", layout, prologue="shift", sizes=SIZES)
    model, inputs = compiled(product, KERNELS[kernel]), product.inputs()
    assert statements(model, LoadFragmentOp)
    expected = reference.evaluate_module(model.lowering.module("tiny"), inputs)
    for given in (model.run(**inputs), executable(model).run(inputs)):
        for name, array in expected.items():
            comparison = compare(name, given[name], array, Tolerance(1e-3, 1e-3))
            assert comparison.ok, str(comparison)
    assert all(not report.findings for report in model.reports)


def held_elements(product, plan):
    """What the tiles of A and B have."""
    model = compiled(product, plan)
    return [str(staged_tile(op.tiles.type).tile.element) for op in statements(model, AllocSmemOp)][:2]


def is_made(product, plan):
    """Whether A is made in registers."""
    model = compiled(product, plan)
    return bool(statements(model, LoadFragmentOp))


def test_tiles_have_what_is_in_the_buffers():
    plan = KERNELS["cooperative"]
    assert held_elements(Product("fp16", prologue="cast"), plan) == ["i8", "f16"]
    assert held_elements(Product("fp16", prologue="shift"), plan) == ["f16", "f16"]
    narrow = {**plan, "tile": [128, 64, 32]}
    assert held_elements(Product("fp32", "nt", prologue="cast"), narrow) == ["f16", "f32"]


def test_what_lies_across_k_is_turned_in_registers():
    plan = {**KERNELS["cooperative"], "tile": [128, 64, 32]}
    for element in ("i8", "fp32"):
        assert is_made(Product(element, "tt"), plan)
        assert not is_made(Product(element, "nt"), plan)


def test_a_remark_says_what_is_made_of_what():
    model = compiled(Product("fp16", prologue="cast"), KERNELS["cooperative"])
    (remark,) = [each for each in model.remarks if each.code == "operand-staged"]
    assert "loads A by TMA, as i8, and makes f16 of it in registers, since its elements are computed" in remark.message


def test_products_in_flight_keep_their_fragments():
    made = "'wait_depth' is 1, and the factors of A are made in registers"
    with pytest.raises(tinyc.TinycError, match=made) as refused:
        compiled(Product("fp16", prologue="cast"), {**KERNELS["cooperative"], "wait_depth": 1})
    assert refused.value.name == "UnsupportedPlan"


@pytest.mark.parametrize(("element", "prologue"), [("fp16", "cast"), ("fp16", "shift")])
def test_fragments_are_loaded_without_bank_conflicts(element, prologue):
    product = Product(element, prologue=prologue, sizes=(128, 64, 128))
    model = compiled(product, KERNELS["cooperative"])
    model.run(**product.inputs())
    (report,) = model.reports
    assert report.counters.bank_conflicts
    assert not +report.counters.bank_conflicts


def test_lanes_exchange_words_of_what_has_the_size_of_factors_alone():
    plan = {"precision": "tf32", "tile": [64, 64, 64], "warp_tile": "64x64", "stages": 3, "schedule": "simple"}
    selects = [
        tinyc.compile(json.dumps(product.document), target="sim", arch="sm_90a", plan=plan).text("ptx").count("selp")
        for product in (Product("fp32", "tt", prologue=each, sizes=(128, 128, 128)) for each in ("none", "cast"))
    ]
    assert selects[1] + 32 // 2 < selects[0]  # of 64 rows and 64 of k a thread has 32 words of A, each with a select


def test_lanes_meet_before_a_tile_is_given_back():
    product = Product("fp16", prologue="cast", sizes=(128, 64, 256))
    model = compiled(product, KERNELS["cooperative"])
    module = copy_module(model.lowering.module("exec"))
    (kernel,) = gpu_kernels_of(module).values()
    for op in [op for op in kernel.ops if isinstance(op, WarpBarrierOp)]:
        op.operation.erase()
    with pytest.raises(tinyc.TinycError, match=r"fills stage 0 of A .* while it may still be read"):
        ThreadsExecutable(model.lowering.program(), module, model.lowering.constants()).run(product.inputs())


@needs_sass_tools
@pytest.mark.parametrize(("element", "layout"), [("fp16", "nn"), ("i8", "tt")])
def test_products_take_a_from_registers(element, layout):
    product = Product(element, layout, prologue="cast", sizes=(512, 512, 512))
    depth = 64 if element == "fp16" else 128
    plan = {"tile": [128, 256, depth], "warp_tile": "64x256", "stages": 3, "schedule": "cooperative"}
    model = compiled(product, plan)
    sass = sass_of(model.text("ptx"), "sm_90a")
    use = sass.resources
    assert (use.spill_store_bytes, use.spill_load_bytes, use.stack_bytes, sass.warnings) == (0, 0, 0, ())
    products = [each.operands for each in sass.main_loop if each.opcode in ("HGMMA", "IGMMA")]
    assert len(products) == 4
    assert all(re.match(r"R\d+, R\d+, gdesc", each) for each in products)
    assert "STS" not in {each.opcode for each in sass.main_loop}
