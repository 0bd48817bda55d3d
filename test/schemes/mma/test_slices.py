"""Products in slices of k: on the simulator with all of its checks, and on the executor of tiles in several orders.

Whether CTAs take turns or a second kernel adds, the sums are added in the order of the slices: the bits are the same.
"""

import numpy as np
import pytest

import tinyc
from installed import ROOT
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.kernel import gpu_kernels_of
from tinyc.executors.gpu.program import ThreadsExecutable
from tinyc.executors.gpu.tiles import grid
from tinyc.mlir import gpu
from tinyc.passes.runner import copy_module

GEMM = ROOT / "examples" / "gemm_bias_relu.json"
SERIAL, PARALLEL = "splitk_serial", "splitk_parallel"
WARPS = {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 3}
COOPERATIVE = {"tile": [128, 64, 64], "warp_tile": "64x64", "stages": 3, "schedule": "cooperative"}
PINGPONG = {"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 4, "schedule": "pingpong"}
SIMPLE = {"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 2, "schedule": "simple"}
#: What is multiplied is transposed, and so are the sums that are handed on.
FEW_ROWS_OF_WARPS = {"tile": [16, 64, 32], "warp_tile": "8x32", "stages": 3}
FEW_ROWS = {"tile": [16, 128, 64], "warp_tile": "16x64", "stages": 3, "schedule": "cooperative"}


def program(element="fp16", accumulator="fp32", batch=True):
    """Twice x @ w + r, and its ReLU, of batches."""
    axes, b = (["B"], 1) if batch else ([], 0)
    return {
        "uops": [
            {"uop": "RESHAPE", "src": ["X"], "arg": {"result_shape": [*axes, "M", 1, "K"]}, "out": "x"},
            {"uop": "RESHAPE", "src": ["W"], "arg": {"result_shape": [*axes, 1, "K", "N"]}, "out": "w"},
            {"uop": "PERMUTE", "src": ["w"], "arg": {"dims": [*range(b), b, b + 2, b + 1]}, "out": "wt"},
            {"uop": "MUL", "src": ["x", "wt"], "out": "products"},
            {
                "uop": "REDUCE",
                "src": ["products"],
                "arg": {"op": "SUM", "axes": [-1], "acc_dtype": accumulator},
                "out": "s",
            },
            {"uop": "CAST", "src": ["R"], "arg": {"to": accumulator}, "out": "r"},
            {"uop": "ADD", "src": ["s", "r"], "out": "total"},
            {"uop": "ADD", "src": ["total", "total"], "out": "Z"},
            {"uop": "RELU", "src": ["total"], "out": "Y"},
        ],
        "values": {
            "X": {"dtype": element, "shape": [*axes, "M", "K"]},
            "W": {"dtype": element, "shape": [*axes, "K", "N"]},
            "R": {"dtype": element, "shape": [*axes, "M", "N"]},
        },
    }


def operands(text, sizes):
    random = np.random.default_rng(sum(sizes.values()))
    found = {}
    for name, held in text["values"].items():
        shape = [sizes[axis] for axis in held["shape"]]
        is_float = held["dtype"] == "fp16"
        found[name] = (
            random.standard_normal(shape).astype(np.float16)
            if is_float
            else random.integers(-128, 128, shape).astype(np.int8)
        )
    return found


def sliced(plan, algorithm, slices=3):
    return {"scheme": "mma", **plan, "split_k": slices, "algo_choice": {"matmul": algorithm}}


def assert_multiplies(model, m, n, k):
    """GEMM + bias + ReLU of these sizes is as numpy has it."""
    random = np.random.default_rng(k)
    x, w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias, 0)
    np.testing.assert_allclose(model(x, w, bias).astype(np.float32), expected, rtol=1e-3, atol=1e-3)


def check(text, arch, plan, sizes, bind):
    """Both algorithms compute what numpy does, and the same bits, in every run."""
    given, bits = operands(text, sizes), []
    total = np.matmul(given["X"].astype(np.float64), given["W"].astype(np.float64)) + given["R"]
    for algorithm, runs in ((SERIAL, 2), (PARALLEL, 1)):
        model = tinyc.compile(text, target="sim", arch=arch, plan=sliced(plan, algorithm), bind=sizes if bind else None)
        assert len(model.lowering.program().kernels) == 2
        for _ in range(runs):
            z, y = model(**given)
            np.testing.assert_allclose(z, 2 * total, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(y, np.maximum(total, 0), rtol=1e-3, atol=1e-3)
            bits.append(z.tobytes() + y.tobytes())
    assert len(set(bits)) == 1


@pytest.mark.parametrize(
    ("arch", "plan", "sizes", "bind"),
    [
        ("sm_80", {**WARPS, "raster": {"along": "m", "group": 2}}, {"B": 2, "M": 70, "N": 72, "K": 200}, True),
        ("sm_80", WARPS, {"B": 1, "M": 40, "N": 75, "K": 133}, False),
        ("sm_90a", SIMPLE, {"B": 2, "M": 40, "N": 72, "K": 136}, True),
        ("sm_90a", {**COOPERATIVE, "cluster": [1, 2]}, {"B": 2, "M": 70, "N": 72, "K": 136}, True),
        ("sm_90a", COOPERATIVE, {"B": 1, "M": 40, "N": 72, "K": 136}, False),
        ("sm_90a", PINGPONG, {"B": 2, "M": 70, "N": 40, "K": 136}, True),
        ("sm_80", FEW_ROWS_OF_WARPS, {"B": 1, "M": 5, "N": 75, "K": 133}, False),
        ("sm_90a", FEW_ROWS, {"B": 2, "M": 20, "N": 136, "K": 136}, True),
    ],
)
def test_slices_of_batches_with_a_residual_and_two_outputs(arch, plan, sizes, bind):
    check(program(), arch, plan, sizes, bind)


@pytest.mark.parametrize(("arch", "plan"), [("sm_80", WARPS), ("sm_90a", {**SIMPLE, "tile": [64, 64, 128]})])
def test_slices_of_integers(arch, plan):
    sizes = {"M": 72, "N": 64, "K": 400}
    check(program("i8", "i32", batch=False), arch, {**plan, "stages": 2}, sizes, bind=True)


@pytest.mark.parametrize("algorithm", [SERIAL, PARALLEL])
def test_sizes_of_a_run_choose_between_two_kernels_with_slices(algorithm):
    model = tinyc.compile(GEMM, target="sim", arch="sm_90a", plan=sliced(COOPERATIVE, algorithm))
    for sizes in ((40, 72, 136), (39, 70, 138)):  # copies of 16 bytes, and none
        assert_multiplies(model, *sizes)


@pytest.mark.parametrize("algorithm", [SERIAL, PARALLEL])
@pytest.mark.parametrize(("arch", "plan"), [("sm_80", WARPS), ("sm_90a", {**SIMPLE, "stages": 3})])
def test_each_slice_of_a_short_k_has_something_in_both_kernels(arch, plan, algorithm):
    """The other kernel, whose loads need nothing of the sizes, keeps the depth: deeper tiles were fewer than slices."""
    model = tinyc.compile(
        GEMM, target="sim", arch=arch, plan=sliced({**plan, "tile": [64, 64, 16]}, algorithm, slices=3), bind={"K": 48}
    )
    for m, n in ((40, 72), (39, 70)):
        assert_multiplies(model, m, n, 48)


@pytest.mark.parametrize("n", [8, 24])
def test_few_columns_are_stored_by_way_of_a_tile_that_no_swizzle_is_for(n):
    plan = {"scheme": "mma", "split_k": 2, "algo_choice": {"matmul": PARALLEL}}
    model = tinyc.compile(GEMM, target="sim", arch="sm_80", plan=plan, bind={"M": 64, "N": n, "K": 512})
    assert_multiplies(model, 64, n, 512)


def test_more_slices_than_are_added_at_a_time():
    sizes = {"M": 64, "N": 64, "K": 19 * 32}
    model = tinyc.compile(GEMM, target="sim", arch="sm_80", plan=sliced(WARPS, PARALLEL, slices=19), bind=sizes)
    assert_multiplies(model, 64, 64, 608)


# --- on the executor of tiles -----------------------------------------------------------------------------------------


def executed(model, module, sizes):
    random = np.random.default_rng(sum(sizes))
    m, n, k = sizes
    shapes = {"X": (m, k), "W": (k, n), "bias": (n,)}
    given = {name: random.standard_normal(shape).astype(np.float16) for name, shape in shapes.items()}
    (result,) = ThreadsExecutable(model.lowering.program(), module, model.lowering.constants()).run(given).values()
    x, w, bias = (each.astype(np.float32) for each in given.values())
    np.testing.assert_allclose(result.astype(np.float32), np.maximum(x @ w + bias, 0), rtol=1e-3, atol=1e-3)
    return result.tobytes()


def compiled(arch, plan, algorithm, sizes):
    bound = dict(zip("MNK", sizes, strict=True))
    return tinyc.compile(GEMM, target="sim", arch=arch, plan=sliced(plan, algorithm), bind=bound)


def in_other_order(run_together):
    """The CTAs that run side by side, the last one first."""

    def run(running):
        running.reverse()
        run_together(running)

    return run


# The last one has more tiles and slices than there are CTAs, 132.
@pytest.mark.parametrize(
    ("arch", "plan", "sizes"),
    [
        ("sm_80", WARPS, (128, 128, 200)),
        ("sm_90a", {**COOPERATIVE, "cluster": [2, 1]}, (256, 192, 136)),
        ("sm_90a", PINGPONG, (640, 512, 136)),
    ],
)
def test_ctas_take_turns_in_whatever_order_they_run(arch, plan, sizes, monkeypatch):
    model = compiled(arch, plan, SERIAL, sizes)
    module = model.lowering.module("exec")
    bits = executed(model, module, sizes)
    parallel = compiled(arch, plan, PARALLEL, sizes)
    assert bits == executed(parallel, parallel.lowering.module("exec"), sizes)
    monkeypatch.setattr(grid, "run_together", in_other_order(grid.run_together))
    assert bits == executed(model, module, sizes)


ORDERING = (tgpu.SemaphoreWaitOp, tgpu.SemaphoreReleaseOp, gpu.BarrierOp, tgpu.NamedBarrierOp)


def handing_on(module):
    """The statements by which sums are handed on in order."""
    for kernel in gpu_kernels_of(module).values():
        ops = kernel.ops
        first = next((number for number, op in enumerate(ops) if isinstance(op, tgpu.SemaphoreWaitOp)), len(ops))
        last = next((number for number, op in enumerate(ops) if isinstance(op, tgpu.SemaphoreReleaseOp)), -1)
        stored = next((number for number, op in enumerate(ops) if isinstance(op, tgpu.StorePartialOp)), -1)
        added = next((number for number, op in enumerate(ops) if isinstance(op, tgpu.AddPartialOp)), -1)
        yield from (op for op in (*ops[first:added], *ops[stored : last + 1]) if isinstance(op, ORDERING))


@pytest.mark.parametrize(("arch", "plan"), [("sm_80", WARPS), ("sm_90a", COOPERATIVE)])
def test_no_wait_release_or_barrier_between_slices_is_there_for_nothing(arch, plan):
    sizes = (128, 64, 200)
    model = compiled(arch, plan, SERIAL, sizes)
    whole = model.lowering.module("exec")
    assert len(list(handing_on(whole))) == 4
    for number in range(4):
        module = copy_module(whole)
        list(handing_on(module))[number].operation.erase()
        with pytest.raises(tinyc.TinycError, match=r"partial sums which are being written|a deadlock"):
            executed(model, module, sizes)
