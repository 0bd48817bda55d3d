"""Kernels of scheme `mma` on the simulator, with all of its checks: no finding, and numbers as numpy has them.

GEMM + bias + ReLU in f16, over both architectures, their schedules, clusters, and sizes that tiles do not divide.
"""

import json
import re
from collections import Counter

import numpy as np
import pytest

import tinyc
from installed import ROOT
from programs.products import Product

GEMM = ROOT / "examples" / "gemm_bias_relu.json"
#: Tile and what a unit has of it, stages, and sizes: whole tiles, ragged ones, pitches of 4 bytes and of 2.
OF_WARPS = [
    ({"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 4}, (128, 128, 96)),
    ({"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 3}, (72, 136, 72)),
    ({"tile": [128, 64, 64], "warp_tile": "64x32", "stages": 2, "raster": {"along": "m", "group": 2}}, (150, 130, 70)),
    ({"tile": [64, 64, 32], "warp_tile": "64x32", "stages": 2}, (15, 13, 7)),
    ({"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 5}, (72, 136, 264)),
    ({}, (1, 1, 8)),  # an output of one element, which has no neighbours
]
COOPERATIVE = {"tile": [128, 128, 64], "warp_tile": "64x128", "stages": 3, "schedule": "cooperative"}
OF_WARPGROUPS = [
    ({**COOPERATIVE, "cluster": [1, 1]}, (128, 256, 128)),
    ({**COOPERATIVE, "cluster": [2, 1]}, (300, 136, 136)),
    ({**COOPERATIVE, "cluster": [1, 2]}, (136, 520, 72)),
    ({**COOPERATIVE, "cluster": [2, 1], "wait_depth": 1}, (136, 264, 264)),
    ({**COOPERATIVE, "cluster": [1, 1], "wait_depth": 1}, (136, 264, 40)),
    ({"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 4, "schedule": "pingpong"}, (200, 136, 72)),
    # CTAs with several tiles: of one slab, and of two; whose stages come in turn; a cluster that is half beyond m.
    ({"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 4, "schedule": "cooperative"}, (1024, 1088, 64)),
    ({"tile": [64, 128, 64], "warp_tile": "64x128", "stages": 3, "schedule": "pingpong"}, (1088, 1920, 72)),
    ({"tile": [64, 128, 64], "warp_tile": "64x128", "schedule": "cooperative", "cluster": [2, 1]}, (1088, 128, 192)),
    ({"tile": [64, 160, 64], "warp_tile": "64x160", "stages": 3, "schedule": "cooperative"}, (192, 320, 128)),
    # Three consumers.
    ({"tile": [192, 128, 64], "warp_tile": "64x128", "stages": 3, "schedule": "cooperative"}, (200, 136, 264)),
    ({"tile": [192, 192, 64], "warp_tile": "64x192", "stages": 2, "schedule": "cooperative"}, (384, 200, 136)),
    ({"tile": [128, 64, 64], "warp_tile": "64x64", "stages": 3, "schedule": "simple"}, (130, 72, 136)),
    ({"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 2, "schedule": "simple"}, (15, 13, 7)),
    ({}, (1, 1, 8)),
]


def products(model, m, n, k):
    """What a model gives for random operands, and what numpy does."""
    random = np.random.default_rng(m * n * k)
    x, w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias.astype(np.float32), 0)
    return model(x, w, bias).astype(np.float32), expected


@pytest.mark.parametrize(
    ("arch", "plan", "sizes"),
    [
        *(("sm_80", *each) for each in OF_WARPS),
        *(("sm_90a", *each) for each in OF_WARPGROUPS),
    ],
)
def test_a_product_on_the_simulator(arch, plan, sizes):
    bound = dict(zip("MNK", sizes, strict=True))
    model = tinyc.compile(GEMM, target="sim", arch=arch, plan={"scheme": "mma", **plan}, bind=bound)
    given, expected = products(model, *sizes)
    np.testing.assert_allclose(given, expected, rtol=1e-3, atol=1e-3)


def residual_program(element):
    """relu(x @ w) + r, where r has elements of any type; a second output is the product itself."""
    return {
        "uops": [
            {"uop": "RESHAPE", "src": ["X"], "arg": {"result_shape": ["M", 1, "K"]}, "out": "x"},
            {"uop": "PERMUTE", "src": ["W"], "arg": {"dims": [1, 0]}, "out": "Wt"},
            {"uop": "RESHAPE", "src": ["Wt"], "arg": {"result_shape": [1, "N", "K"]}, "out": "w"},
            {"uop": "MUL", "src": ["x", "w"], "out": "products"},
            {
                "uop": "REDUCE",
                "src": ["products"],
                "arg": {"op": "SUM", "axes": [-1], "acc_dtype": "fp32"},
                "out": "sum",
            },
            {"uop": "RELU", "src": ["sum"], "out": "kept"},
            {"uop": "ADD", "src": ["kept", "R"], "out": "total"},
            {"uop": "CAST", "src": ["total"], "arg": {"to": "fp16"}, "out": "Y"},
        ],
        "values": {
            "X": {"dtype": "fp16", "shape": ["M", "K"]},
            "W": {"dtype": "fp16", "shape": ["K", "N"]},
            "R": {"dtype": element, "shape": ["M", "N"]},
        },
    }


@pytest.mark.parametrize(
    ("element", "plan", "sizes"),
    [
        # One slab a tile, more tiles than CTAs; three slabs, in turn; f32 in two lines of 128 bytes.
        ("fp16", {"tile": [64, 64, 64], "warp_tile": "64x64", "schedule": "cooperative"}, (632, 904, 64)),
        ("fp16", {"tile": [64, 192, 64], "warp_tile": "64x192", "stages": 2, "schedule": "pingpong"}, (1088, 3400, 64)),
        ("fp32", {"tile": [128, 128, 64], "warp_tile": "64x128", "stages": 2, "cluster": [2, 1]}, (136, 264, 72)),
    ],
)
def test_a_residual_comes_to_the_epilogue_by_tma(element, plan, sizes):
    bound = dict(zip("MNK", sizes, strict=True))
    plan = {"scheme": "mma", "schedule": "cooperative", **plan}
    model = tinyc.compile(residual_program(element), target="sim", arch="sm_90a", plan=plan, bind=bound)
    assert model.text("gpu").count('"tgpu.tma_load"') > 2
    m, n, k = sizes
    random = np.random.default_rng(m * n * k)
    x, w = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    r = (8 * random.standard_normal((m, n))).astype({"fp16": np.float16, "fp32": np.float32}[element])
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32), 0) + r.astype(np.float32)
    np.testing.assert_allclose(model(x, w, r).astype(np.float32), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("arch", "plan", "store"),
    [
        ("sm_80", {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 2}, "st.global.v4.b32"),
        ("sm_90a", {"tile": [64, 64, 64], "warp_tile": "64x64", "schedule": "cooperative"}, "tensor.2d.global.shared"),
    ],
)
def test_an_output_whose_columns_lie_in_memory_is_stored_as_fast(arch, plan, store):
    program = residual_program("fp16")
    turned = {"uop": "PERMUTE", "src": ["Y"], "arg": {"dims": [1, 0]}, "out": "Z"}
    program = {**program, "uops": [*program["uops"], turned], "outputs": ["Z"]}
    bound = {"M": 136, "N": 72, "K": 64}
    model = tinyc.compile(program, target="sim", arch=arch, plan={"scheme": "mma", **plan}, bind=bound)
    assert len(model.lowering.program().kernels) == 1
    assert store in model.text("ptx")
    random = np.random.default_rng(9)
    x, w, r = (random.standard_normal(shape).astype(np.float16) for shape in ((136, 64), (64, 72), (136, 72)))
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32), 0) + r.astype(np.float32)
    np.testing.assert_allclose(model(x, w, r).astype(np.float32), expected.T, rtol=1e-3, atol=1e-3)


#: The product of a part of X, of its rows and columns from 8 on.
PART = {
    "uops": [
        {"uop": "SHRINK", "src": ["X"], "arg": {"lo": [8, 8], "hi": [72, 72], "step": [1, 1]}, "out": "part"},
        {"uop": "RESHAPE", "src": ["part"], "arg": {"result_shape": [64, 1, 64]}, "out": "x"},
        {"uop": "PERMUTE", "src": ["W"], "arg": {"dims": [1, 0]}, "out": "Wt"},
        {"uop": "RESHAPE", "src": ["Wt"], "arg": {"result_shape": [1, 128, 64]}, "out": "w"},
        {"uop": "MUL", "src": ["x", "w"], "out": "products"},
        {"uop": "REDUCE", "src": ["products"], "arg": {"op": "SUM", "axes": [-1], "acc_dtype": "fp32"}, "out": "Y"},
    ],
    "values": {"X": {"dtype": "fp16", "shape": [80, 80]}, "W": {"dtype": "fp16", "shape": [64, 128]}},
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_product_of_a_part_of_a_buffer(arch):
    random = np.random.default_rng(8)
    x, w = (random.standard_normal(shape).astype(np.float16) for shape in ((80, 80), (64, 128)))
    given = tinyc.compile(PART, target="sim", arch=arch, plan={"scheme": "mma"})(x, w)
    expected = x[8:72, 8:72].astype(np.float32) @ w.astype(np.float32)
    np.testing.assert_allclose(given.astype(np.float32), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_sizes_of_a_run_choose_between_two_kernels(arch):
    model = tinyc.compile(GEMM, target="sim", arch=arch, plan={"scheme": "mma"})
    for sizes in ((72, 136, 64), (71, 130, 70)):  # copies of 16 bytes, and none
        given, expected = products(model, *sizes)
        np.testing.assert_allclose(given, expected, rtol=1e-3, atol=1e-3)


def test_sizes_that_runs_are_expected_to_have_get_kernels_of_few_rows():
    sizes = {"N": 136, "K": 64}
    model = tinyc.compile(GEMM, target="sim", arch="sm_90a", plan={"scheme": "mma"}, bind=sizes, sizes=[{"M": 5}])
    assert [each.message.split()[0] for each in model.remarks if each.code == "product-transposed"] == [
        "@matmul_add_relu_cast_M5"
    ]
    for m in (5, 70):
        given, expected = products(model, m, 136, 64)
        np.testing.assert_allclose(given, expected, rtol=1e-3, atol=1e-3)


#: The product of few rows with weights in i8, which are cast.
OF_WEIGHTS = {
    "uops": [
        {"uop": "CAST", "src": ["W"], "arg": {"to": "fp16"}, "out": "W_f16"},
        {"uop": "RESHAPE", "src": ["X"], "arg": {"result_shape": [8, 1, 128]}, "out": "x"},
        {"uop": "RESHAPE", "src": ["W_f16"], "arg": {"result_shape": [1, 256, 128]}, "out": "w"},
        {"uop": "MUL", "src": ["x", "w"], "out": "products"},
        {"uop": "REDUCE", "src": ["products"], "arg": {"op": "SUM", "axes": [-1], "acc_dtype": "fp32"}, "out": "Y"},
    ],
    "values": {"X": {"dtype": "fp16", "shape": [8, 128]}, "W": {"dtype": "i8", "shape": [256, 128]}},
}


def test_weights_of_transposed_operands_are_made_in_registers():
    model = tinyc.compile(OF_WEIGHTS, target="sim", arch="sm_90a", plan={"scheme": "mma", "schedule": "cooperative"})
    (told,) = [each.message for each in model.remarks if each.code == "operand-staged"]
    assert "loads W by TMA, as i8, and makes f16 of it in registers" in told
    random = np.random.default_rng(11)
    x, w = random.standard_normal((8, 128)).astype(np.float16), random.integers(-9, 10, (256, 128)).astype(np.int8)
    expected = x.astype(np.float32) @ w.T.astype(np.float32)
    np.testing.assert_allclose(model(x, w).astype(np.float32), expected, rtol=1e-3, atol=1e-3)


def test_sm_90a_multiplies_by_wgmma_and_copies_by_tma():
    plan = {"scheme": "mma", **COOPERATIVE, "cluster": [2, 1]}
    ptx = tinyc.compile(GEMM, target="sim", arch="sm_90a", plan=plan, bind={"M": 256, "N": 256, "K": 128}).text("ptx")
    for instruction in ("wgmma.mma_async", "multicast::cluster", "setmaxnreg.inc", "global.shared::cta.tile"):
        assert instruction in ptx
    # What is finished goes to shared memory four 8 x 8 matrices at a time, and from there by TMA alone.
    assert "stmatrix.sync.aligned.m8n8.x4.shared.b16" in ptx
    assert not re.search(r"\bst\.(shared|global)", ptx)


def main_loop(ptx):
    """The instructions of the loop that multiplies."""
    loops = re.findall(r"(?ms)^(\$L\S+):\n(.*?)bra \t\1;", ptx)
    (body,) = (body for _, body in loops if "mma.sync" in body)
    return [line.split()[0] for line in body.splitlines() if line.endswith(";") and "pragma" not in line]


def test_the_main_loop_of_warps_is_products_copies_and_few_additions():
    """Stages are offsets that are carried, and addresses at numbers from few others: nothing is multiplied for them."""
    plan = {"scheme": "mma", "tile": [128, 128, 32], "warp_tile": "64x64", "stages": 3}
    ptx = tinyc.compile(GEMM, target="sim", arch="sm_80", plan=plan, bind=dict.fromkeys("MNK", 512)).text("ptx")
    found = Counter(name.split(".")[0] for name in main_loop(ptx))
    # Of each of two steps 4 loads for A and 4 for B, and one more: B's last columns are loaded apart.
    assert (found.pop("mma"), found.pop("ldmatrix"), found.pop("bar")) == (64, 18, 1)
    assert found.pop("cp") == 8 + 2  # of 16 bytes, the end of their group, the wait for an older one
    assert {name for name in found if "@" not in name} <= {"add", "setp", "selp", "mov", "shl"}


def test_what_is_beyond_m_and_n_is_not_asked_for_in_the_main_loop():
    """Beyond k are zeros; a row beyond the last is the last one, whose products are not stored."""
    plan = {"scheme": "mma", "tile": [64, 64, 32], "warp_tile": "32x32", "stages": 2}
    model = tinyc.compile(GEMM, target="sim", arch="sm_80", plan=plan, bind={"M": 72, "N": 136, "K": 64})
    copies = [line for line in model.text("gpu").splitlines() if '"tgpu.cp_async"' in line]
    assert all('guarded = ["columns"]' in line and 'clamped = ["rows"]' in line for line in copies[::2])
    assert all('guarded = ["rows"]' in line and 'clamped = ["columns"]' in line for line in copies[1::2])
    given, expected = products(model, 72, 136, 64)
    np.testing.assert_allclose(given, expected, rtol=1e-3, atol=1e-3)


def test_sm_80_multiplies_by_mma_and_copies_by_cp_async():
    bound = {"M": 256, "N": 256, "K": 128}
    ptx = tinyc.compile(GEMM, target="sim", arch="sm_80", plan={"scheme": "mma"}, bind=bound).text("ptx")
    for instruction in (
        "mma.sync.aligned.m16n8k16",
        "cp.async.cg.shared.global",
        "ldmatrix.sync.aligned.m8n8.x4.trans",
    ):
        assert instruction in ptx


@pytest.mark.parametrize(("arch", "warp_tile", "unit"), [("sm_80", "8x32", "warp"), ("sm_90a", "8x64", "warpgroup")])
def test_a_remark_tells_of_transposed_operands(arch, warp_tile, unit):
    plan = {"scheme": "mma", "warp_tile": warp_tile}
    model = tinyc.compile(GEMM, target="sim", arch=arch, plan=plan, bind={"M": 8, "N": 256, "K": 64})
    (remark,) = [each for each in model.remarks if each.code == "product-transposed"]
    rows = {"sm_80": 16, "sm_90a": 64}[arch]
    end = f"of the {warp_tile} accumulators of a {unit}, n is along the {rows} rows of an instruction"
    assert remark.message == f"@matmul_add_relu_cast multiplies the transposed operands: {end}"
    assert "stmatrix.sync.aligned.m8n8.x2.trans" in model.text("ptx") or arch == "sm_80"
    given, expected = products(model, 8, 256, 64)
    np.testing.assert_allclose(given, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("arch", "sizes", "told"),
    [
        ("sm_90a", {"M": 64, "N": 64, "K": 68}, "loads X by cp.async, 8 bytes at a time, since its row pitch"),
        ("sm_80", {"M": 64, "N": 64, "K": 67}, "loads X through registers, since its rows do not begin at multiples"),
        ("sm_80", {}, "is launched where K is a multiple of 8 and N is a multiple of 8; elsewhere"),
    ],
)
def test_a_remark_tells_how_operands_come_to_shared_memory(arch, sizes, told):
    model = tinyc.compile(GEMM, target="sim", arch=arch, plan={"scheme": "mma"}, bind=sizes)
    (remark,) = [each for each in model.remarks if each.code in ("operand-staged", "kernel-guarded")]
    assert told in remark.message


def test_a_mask_of_bytes_asks_for_no_more_than_stores_do():
    """Threads read what f16 may be stored beside, and copies of 16 bytes are not for: of N = 72, a row of 72 bytes."""
    operands = {
        "A": {"dtype": "fp16", "shape": ["M", "K"]},
        "B": {"dtype": "fp16", "shape": ["K", "N"]},
        "mask": {"dtype": "bool", "shape": ["M", "N"]},
    }
    nodes = [
        {"uop": "MATMUL", "src": ["A", "B"], "arg": {"dtype": "fp32"}, "out": "C"},
        {"uop": "WHERE", "src": ["mask", "C", 0.0], "out": "masked"},
        {"uop": "CAST", "src": ["masked"], "arg": {"to": "fp16"}, "out": "Y"},
    ]
    for arch in ("sm_80", "sm_90a"):
        model = tinyc.compile({"uops": nodes, "values": operands}, target="sim", arch=arch, plan={"scheme": "mma"})
        (remark,) = [each for each in model.remarks if each.code == "kernel-guarded"]
        assert "launched where K is a multiple of 8 and N is a multiple of 8; elsewhere" in remark.message


TF32 = json.dumps(Product("fp32", "nn", sizes=(256, 256, 128)).document)


def test_a_remark_says_what_copies_where_a_producer_could_load():
    plan = {"scheme": "mma", "precision": "tf32", "tile": [128, 64, 32], "warp_tile": "64x64", "schedule": "simple"}
    model = tinyc.compile(TF32, target="sim", arch="sm_90a", plan=plan)
    told = {each.code: each for each in model.remarks}
    loads, turned = told["operand-staged"], told["product-transposed"]
    assert "loads B by cp.async, 16 bytes at a time, as f32, and makes f32 of it in registers" in loads.message
    assert dict(loads.evidence)["load"] == "cp_async"
    end = ", since B is made in registers, which warpgroups do with the operand along the rows"
    assert turned.message.endswith(end)


def test_few_columns_of_an_operand_that_has_to_be_made_are_along_the_rows_of_a_wider_tile():
    program = json.dumps(Product("fp32", "nn", sizes=(4096, 48, 4096)).document)
    model = tinyc.compile(program, target="sim", arch="sm_90a", plan={"scheme": "mma", "precision": "tf32"})
    assert "operand-staged" not in {each.code for each in model.remarks if "by TMA" not in each.message}
    assert 'schedule = "cooperative"' in model.text("plan")


@pytest.mark.parametrize(
    ("fields", "remedy"),
    [
        (
            {"tile": [128, 96, 32], "warp_tile": "64x96", "schedule": "cooperative"},
            """; choose a 'warp_tile' whose columns are a multiple of 64, or write "simple\"""",
        ),
        (  # the finished tile takes the room, not stages
            {"tile": [256, 256, 32], "warp_tile": "128x128", "stages": 2, "schedule": "simple"},
            "263168 bytes of shared memory per CTA; sm_90a has 232448; choose a smaller tile",
        ),
    ],
)
def test_what_is_refused_has_a_remedy_that_helps(fields, remedy):
    with pytest.raises(tinyc.TinycError) as refused:
        tinyc.compile(TF32, target="sim", arch="sm_90a", plan={"scheme": "mma", "precision": "tf32", **fields})
    assert remedy in str(refused.value)


def test_a_remark_tells_of_a_faster_tile_that_there_is_no_room_for():
    sizes = {"M": 2047, "N": 2049, "K": 2047}
    model = tinyc.compile(GEMM, target="sim", arch="sm_90a", plan={"scheme": "mma"}, bind=sizes)
    (remark,) = [each for each in model.remarks if each.code == "plan-degraded"]
    assert re.match(
        r"@matmul_add_relu_cast: tile 192 × 192 × 64 by 64x192 would take .* us; but its 'warp_tile' has accumulator",
        remark.message,
    )


@pytest.mark.parametrize(("warp_tile", "waits"), [("64x64", True), ("32x32", False)])
def test_an_epilogue_reads_in_pieces_what_has_no_room_beside_the_accumulators(warp_tile, waits):
    program = json.dumps(Product("fp16", "nn", epilogue="residual", sizes=(4096, 4096, 64)).document)
    # Two stages leave no room for residuals beside the output.
    plan = {"scheme": "mma", "tile": [128, 64, 32], "warp_tile": warp_tile, "stages": 2}
    model = tinyc.compile(program, target="sim", arch="sm_80", plan=plan)
    told = [each for each in model.remarks if each.code == "epilogue-in-pieces"]
    assert bool(told) == waits
    ptx = model.text("ptx").split("mma.sync")[-1]
    assert ("bar.warp.sync" in ptx) == waits
    assert "ld.global.nc" not in ptx or not waits
