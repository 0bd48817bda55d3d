"""The executor of tiles: kernels of tensor cores agree with numpy, and each wait, fence and barrier is needed."""

import numpy as np
import pytest

import tinyc
from installed import ROOT
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.kernel import gpu_kernels_of
from tinyc.driver.verification import verify_model
from tinyc.executors.gpu.program import ThreadsExecutable
from tinyc.mlir import gpu, ir
from tinyc.passes.runner import copy_module

GEMM = ROOT / "examples" / "gemm_bias_relu.json"
WARPS = ("sm_80", {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 3})
#: One product of warpgroups for each tile, and 288 tiles for 132 CTAs: each CTA takes several.
PERSISTENT = ("sm_90a", {"tile": [64, 128, 64], "warp_tile": "64x128", "stages": 2, "schedule": "cooperative"})
CASES = [
    (*WARPS, (128, 128, 160)),
    ("sm_80", {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 4}, (129, 65, 33)),
    ("sm_80", {"tile": [64, 64, 32], "warp_tile": "64x32", "stages": 2}, (72, 136, 72)),
    ("sm_90a", {"tile": [128, 64, 64], "warp_tile": "64x64", "stages": 3, "schedule": "simple"}, (130, 72, 136)),
    ("sm_90a", {"tile": [128, 64, 64], "warp_tile": "64x64", "stages": 3, "schedule": "simple"}, (15, 13, 7)),
    ("sm_90a", {**PERSISTENT[1], "cluster": [1, 2]}, (136, 520, 72)),
    ("sm_90a", {**PERSISTENT[1], "cluster": [2, 1]}, (1024, 2304, 192)),
]
#: What waits, and what is waited with. Without one of these a kernel is wrong.
ORDERING = (
    *(tgpu.CommitGroupOp, tgpu.WaitGroupOp, tgpu.FenceAsyncOp),
    *(tgpu.MbarrierExpectTxOp, tgpu.MbarrierArriveOp, tgpu.MbarrierWaitOp),
    *(tgpu.NamedBarrierOp, tgpu.ClusterBarrierOp, gpu.BarrierOp),
)


def compiled(arch, plan, sizes):
    bound = dict(zip("MNK", sizes, strict=True))
    return tinyc.compile(GEMM, target="sim", arch=arch, plan={"scheme": "mma", **plan}, bind=bound)


def operands(sizes):
    m, n, k = sizes
    random = np.random.default_rng(m * n * k)
    shapes = {"X": (m, k), "W": (k, n), "bias": (n,)}
    return {name: random.standard_normal(shape).astype(np.float16) for name, shape in shapes.items()}


def run(model, module, inputs):
    executable = ThreadsExecutable(model.lowering.program(), module, model.lowering.constants())
    (output,) = executable.run(inputs).values()
    return output


@pytest.mark.parametrize(("arch", "plan", "sizes"), CASES)
def test_a_product_is_numpys(arch, plan, sizes):
    model, inputs = compiled(arch, plan, sizes), operands(sizes)
    x, w, bias = (each.astype(np.float32) for each in inputs.values())
    given = run(model, model.lowering.module("exec"), inputs)
    np.testing.assert_allclose(given.astype(np.float32), np.maximum(x @ w + bias, 0), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", [CASES[0], CASES[5]], ids=["sm_80", "sm_90a"])
def test_verify_runs_the_tiles(case):
    model = compiled(*case)
    layers = {each.title: each.failure for each in verify_model(model, operands(case[2]))}
    assert set(layers.values()) == {None}
    assert any(title.startswith("threads (gpu)") for title in layers)


def ordering_ops(module):
    return [op for kernel in gpu_kernels_of(module).values() for op in kernel.ops if isinstance(op, ORDERING)]


def fault_of(model, module, inputs):
    """What the executor finds, or the verifier before it, where a kernel lacks all of a kind."""
    with pytest.raises(tinyc.TinycError) as raised:
        run(model, module, inputs)
    assert raised.value.name in ("SimulationFinding", "InvalidIr")
    return str(raised.value)


@pytest.mark.parametrize(
    ("case", "faults"),
    [
        (
            (*WARPS, (64, 64, 160)),
            [
                ("tgpu.commit_group", "'tgpu.ldmatrix' reads stage 0 of A (CTA 0, 0, 0), which is being filled"),
                ("tgpu.wait_group", "'tgpu.ldmatrix' reads stage 0 of A (CTA 0, 0, 0), which is being filled"),
                ("gpu.barrier", "which is being filled: no wait, or no barrier, says to all its threads"),
            ],
        ),
        (
            (PERSISTENT[0], {**PERSISTENT[1], "cluster": [2, 1]}, (1024, 2304, 192)),
            [
                ("tgpu.cluster_barrier", "uses mbarrier 0 of full (CTA 0 of its cluster) without a barrier behind"),
                (
                    "tgpu.mbarrier_wait",
                    "has mbarriers 'empty' at which someone arrives, and no one waits",
                ),
                ("tgpu.fence_async", "'tgpu.tma_store' reads stage 0 of C"),
                ("tgpu.fence_async", "which threads have filled; 'tgpu.fence_async' has to follow, and a barrier"),
                ("tgpu.named_barrier", "'tgpu.tma_store' reads stage 0 of C"),
            ],
        ),
    ],
)
def test_the_fault_says_what_is_missing(case, faults):
    model, inputs = compiled(*case), operands(case[2])
    for name, message in faults:
        module = copy_module(model.lowering.module("exec"))
        next(op for op in ordering_ops(module) if op.operation.name == name).operation.erase()
        assert message in fault_of(model, module, inputs)


@pytest.mark.parametrize(
    "case",
    [(*WARPS, (64, 64, 160)), (PERSISTENT[0], {**PERSISTENT[1], "cluster": [2, 1]}, (1024, 2304, 192))],
    ids=["sm_80", "sm_90a"],
)
def test_no_wait_fence_barrier_or_commit_is_there_for_nothing(case):
    model, inputs = compiled(*case), operands(case[2])
    whole = model.lowering.module("exec")
    for number, op in enumerate(ordering_ops(whole)):
        if len(op.results):  # accumulators go through it: nothing reads them without
            continue
        module = copy_module(whole)
        ordering_ops(module)[number].operation.erase()
        fault_of(model, module, inputs)


@pytest.mark.parametrize(
    ("name", "attribute", "value", "message"),
    [
        (
            "tgpu.mbarrier_init",
            "arrivals",
            2,
            "a deadlock: CTA 0, 0, 0 waits for its warpgroups; CTA 1, 0, 0 waits for",
        ),
        ("tgpu.mbarrier_init", "arrivals", 2, "(parity 0), phase 0: 1 of 2 arrivals and 0 bytes are missing"),
        ("tgpu.mbarrier_arrive", "ctas", 1, "a deadlock"),
        ("tgpu.named_barrier", "threads", 256, "waits at barrier 1, where 128 of 256 have come"),
        ("tgpu.named_barrier", "threads", 64, "128 threads come to barrier 1, which waits for 64"),
    ],
)
def test_a_wrong_count_is_found(name, attribute, value, message):
    case = (PERSISTENT[0], {**PERSISTENT[1], "cluster": [2, 1]}, (128, 128, 192))
    model, inputs = compiled(*case), operands(case[2])
    module = copy_module(model.lowering.module("exec"))
    (kernel,) = gpu_kernels_of(module).values()
    op = next(op for op in kernel.ops if op.operation.name == name)
    op.attributes[attribute] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, module.context), value)
    assert message in fault_of(model, module, inputs)


# The first barrier of a cluster is relaxed, for mbarriers; the last one is between uses of a CTA's memory and its end.
def test_a_relaxed_barrier_of_a_cluster_tells_of_mbarriers_only():
    case = (PERSISTENT[0], {**PERSISTENT[1], "cluster": [2, 1]}, (128, 128, 192))
    model, inputs = compiled(*case), operands(case[2])
    module = copy_module(model.lowering.module("exec"))
    (kernel,) = gpu_kernels_of(module).values()
    first, last = (op for op in kernel.ops if isinstance(op, tgpu.ClusterBarrierOp))
    assert (first.relaxed.value, last.relaxed.value) == (True, False)
    last.attributes["relaxed"] = first.relaxed
    assert "of its cluster ends while others may use its shared memory" in fault_of(model, module, inputs)
