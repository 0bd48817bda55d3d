"""The machine code of the kernels that the cost model chooses: nothing spilt, products one after the other."""

import json
import random
import re

import pytest

import tinyc
from mma_kernels.plans import SHAPES, model_of, plan_of, ranked
from mma_kernels.sass import sass_of
from parameters import seeds
from programs.products import EPILOGUES, LAYOUTS, PROLOGUES, Product
from ptxsim_cases.sass_text import needs_sass_tools
from tinyc.runtime.assembler import assemble

pytestmark = needs_sass_tools

#: What may stand between two products of warpgroups: integers in registers, which addresses and phases are.
ADDRESSES = re.compile(
    r"U?(MOV|IADD3|LOP3|SHF|LEA|SEL|ISETP|PRMT|PLOP3|IMAD)(\.|$)|IADD3|VIADD|IMAD|R2UR|S2UR|WARPSYNC$|NOP$"
)
ARCHS = ("sm_80", "sm_90a")
#: Of each shape as many of the first are compiled; in CI the first one of a large product, and of one with few rows.
FIRST = 3
IN_CI = ((8192, 8192, 8192), (16, 4096, 14336))


def cases():
    """The architecture, the sizes and the place of each plan; those that CI leaves out are long."""
    for arch in ARCHS:
        for sizes in SHAPES:
            for place in range(FIRST):
                marks = () if sizes in IN_CI and place == 0 else pytest.mark.long
                yield pytest.param(arch, sizes, place, marks=marks, id=f"{arch}-{'x'.join(map(str, sizes))}-{place}")


@pytest.mark.parametrize(("arch", "sizes", "place"), list(cases()))
def test_a_plan_that_is_chosen_makes_good_code(arch, sizes, place):
    tiling = ranked(arch, sizes)[place].tiling
    model = model_of(arch, plan_of(tiling), sizes)
    sass = sass_of(model.text("ptx"), arch, "" if tiling.finishes else "_init")  # the kernel that multiplies
    assert not sass.is_spilt
    assert not sass.warnings
    assert not sass.opcodes & {"LDL", "STL"}
    is_copied = "cp.async.c" in model.text("ptx")  # pitches that cp.async cannot take pass through registers
    assert sass.opcodes >= ({"HMMA", "LDSM"} | ({"LDGSTS"} if is_copied else set()) if arch == "sm_80" else {"HGMMA"})
    assert sass.products_of_loop > 0
    if arch == "sm_90a":
        assert [name for name in sass.between_products if not ADDRESSES.match(name)] == []


#: Residuals at odd pitches beside 128 accumulators, elements through registers, a residual beside a made operand.
CLOSE_TO_THE_LIMIT = (
    ("sm_90a", Product("fp16", "nn", epilogue="residual", sizes=(4095, 4097, 4096))),
    ("sm_90a", Product("bf16", "tn", epilogue="residual", sizes=(4095, 4097, 4096))),
    ("sm_90a", Product("fp32", "nt", prologue="cast", epilogue="residual", sizes=(4095, 4097, 4096))),
    ("sm_80", Product("bf16", "tn", epilogue="residual", sizes=(4095, 4097, 4096))),
    ("sm_80", Product("fp16", "nt", prologue="scale", epilogue="residual", sizes=(1000, 3000, 776), dynamic=True)),
)


@pytest.mark.parametrize(("arch", "product"), CLOSE_TO_THE_LIMIT, ids=str)
def test_no_register_is_spilt_where_there_are_few(arch, product):
    assert_nothing_is_spilt(arch, product)


@seeds(3, 400)
def test_no_default_plan_spills(seed):
    """Any element type, layout, prologue and epilogue at sizes that are whole, ragged, or told at a run."""
    choose = random.Random(seed).choice
    sizes = choose((*SHAPES, (1000, 3000, 776), (2047, 2049, 2047), (4096, 4096, 4095), None))
    product = Product(
        choose(("fp16", "bf16", "i8", "fp32")),
        choose(LAYOUTS),
        prologue=choose(PROLOGUES),
        epilogue=choose(EPILOGUES),
        sizes=sizes or (4096, 4096, 4096),
        dynamic=sizes is None,
    )
    assert_nothing_is_spilt(choose(ARCHS), product)


def assert_nothing_is_spilt(arch, product):
    plan = {"precision": "tf32"} if product.element == "fp32" else {}
    model = tinyc.compile(json.dumps(product.document), target="sim", arch=arch, plan=plan)
    kernels = assemble(model.text("ptx"), arch).kernels
    assert any(kernel.registers >= 32 for kernel in kernels)  # with 8 rows of accumulators it takes no more
    assert [each for each in kernels if each.spill_store_bytes or each.spill_load_bytes or each.stack_bytes] == []
