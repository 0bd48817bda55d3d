"""Kernels on tensor cores as CUDA text: as a person would write them, compiled by nvcc, and computing what numpy does.

What nvcc makes of the text runs on the simulator, with all of its checks. The CPU's function of a file is that of the
kernel without tensor cores, which runs in `test_cuda_file`.
"""

import json
import re

import numpy as np
import pytest

from cuda_on_host import build, compile_for_gpu, run, run_ptx_of
from installed import ROOT
from mma_kernels.kernels import with_cast
from tinyc.dialects.gpu.to_cuda import cuda_text
from tinyc.dialects.region.plan import RegionPlan
from tinyc.dialects.region.to_gpu.lowering import RegionToGpu
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.importers import tiny_json
from tinyc.passes.runner import run_passes

GEMM = (ROOT / "examples" / "gemm_bias_relu.json").read_text(encoding="utf-8")
SIZES = {"M": 136, "N": 264, "K": 72}
WARPS = {"scheme": "mma", "tile": [64, 64, 32], "warp_tile": "32x32", "stages": 3}
WARPGROUPS = {"scheme": "mma", "tile": [128, 128, 64], "warp_tile": "64x128", "stages": 2}
PLANS = [
    ("sm_80", WARPS),
    ("sm_90a", {**WARPGROUPS, "schedule": "simple"}),
    ("sm_90a", {**WARPGROUPS, "schedule": "cooperative", "cluster": [2, 1]}),
    ("sm_90a", {**WARPGROUPS, "schedule": "pingpong", "warp_tile": "128x128"}),
]

IN_SLICES = {"split_k": 2, "algo_choice": {"matmul": "splitk_parallel"}}
#: What the CPU computes by the functions of three files, the last of which leaves sums in between.
ALL_ALIKE = """
static void require_alike(const std::vector<half>& found, const half* wanted) {
  if (std::memcmp(found.data(), wanted, found.size() * sizeof(half)) != 0) exit(7);
}
static void matmul_add_relu_cast_reference(const half* X, const half* W, const half* bias, half* Y) {
  product0_reference(X, W, bias, Y);
  std::vector<half> found(136 * 264);
  product1_reference(X, W, bias, found.data());
  require_alike(found, Y);
  std::vector<float> sums(2 * 192 * 320);
  product2_init_reference(X, W, bias, Y, sums.data());
  product2_reference(X, W, bias, found.data(), sums.data());
  require_alike(found, Y);
}"""


def gpu_module(document, arch, plan=None, bind=None):
    module = tiny_json.import_program(document, bind=bind or {})
    given = RegionPlan(arch=arch, plan=None if plan is None else json.dumps(plan))
    run_passes(module, [TinyToRegion(), given, RegionToGpu(arch=arch)])
    return module


def test_a_loop_of_warps_reads_like_one_that_a_person_wrote():
    text = cuda_text(gpu_module(GEMM, "sm_80", WARPS, SIZES))
    assert "extern __shared__ __align__(1024) unsigned char smem[];" in text
    # What a loop carries is in the arrays that it began in; a place in a swizzled tile has a name.
    loop = re.search(r"  float acc\[32\] = \{\};.*?\n  }\n", text, re.DOTALL)[0]
    for wanted in (
        "  uint32_t stage = 0, last_stage = 8192;\n",
        "    ptx::cp_async_cg_16(tile1 + swizzled<2, 64>(line0, column0), &X[at0 + at4], bytes1);\n",
        "    uint32_t a1[8];\n    ptx::ldmatrix_x4(&a1[0], tile0 + swizzled<2, 64>(line2, column2 + 16));\n",
        # The last columns of B are loaded when the loop comes round.
        "    uint32_t b1[2];\n    ptx::ldmatrix_x2_trans(&b1[0], ",
        "    for (int n = 0; n < 3; ++n) {\n"
        "      ptx::mma_sync_m16n8k16_f32_f16(&acc[4 * n + 16], &a0[4], &b0[2 * n]);\n",
        "    ptx::mma_sync_m16n8k16_f32_f16(&acc[28], &a0[4], &b1[0]);\n",
        "    ptx::cp_async_wait_group_1();\n    __syncthreads();\n",
        "    const uint32_t next_stage = stage == 8192 ? 0 : stage + 4096;\n",
        "      a0[n] = a2[n];\n",
    ):
        assert wanted in loop
    assert len(loop.splitlines()) < 70
    # Sums are stored by loops over their rows and columns, with a function in each.
    assert "ptx::st_shared_32(base + swizzled<2, 128>(line4, column4 + 16 * m) + 2048 * n,\n" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("//")) <= 120
    # An instruction is a function, and only those used are there.
    assert '"+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])' in text
    assert "wgmma" not in text
    assert "wrapping_add" not in text


def test_roles_of_warpgroups_are_branches_with_a_comment():
    text = cuda_text(gpu_module(GEMM, *PLANS[2], SIZES))
    for wanted in (
        "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1) ",
        "const __grid_constant__ CUtensorMap X_map",
        "half* __restrict__ Y,",
        "  // warpgroup 0: one thread\n",
        "ptx::tma_load_2d(",
        "  // warpgroups 1 to 2\n",
        "ptx::wgmma_m64n128k16_f32_f16_tb(&acc[0], tile_descriptor<16, 1024, 128>(tile",
        "cudaFuncAttributeMaxDynamicSharedMemorySize",
        "tensor_map(d_X, {72, 136}, {144}, {64, 128}, 128)",
    ):
        assert wanted in text


@pytest.mark.parametrize(
    ("arch", "plan"), [PLANS[2], *(pytest.param(*PLANS[each], marks=pytest.mark.long) for each in (0, 1, 3))]
)
def test_nvcc_compiles_kernels_for_all_sizes(arch, plan, tmp_path):
    compile_for_gpu(cuda_text(gpu_module(GEMM, arch, plan)), tmp_path, arch.removeprefix("sm_"))


@pytest.mark.parametrize(("arch", "plan"), PLANS)
def test_what_nvcc_makes_of_a_kernel_is_right(arch, plan, tmp_path):
    random = np.random.default_rng(7)
    shapes = {"X": (136, 72), "W": (72, 264), "bias": (264,)}
    inputs = {name: random.standard_normal(shape).astype(np.float16) for name, shape in shapes.items()}
    x, w, bias = (each.astype(np.float32) for each in inputs.values())
    sizes = {} if arch == "sm_80" else SIZES
    found = run_ptx_of(gpu_module(GEMM, arch, plan, sizes), arch, inputs, tmp_path)["Y"].astype(np.float32)
    np.testing.assert_allclose(found, np.maximum(x @ w + bias, 0), rtol=2e-3, atol=2e-3)


def test_an_operand_that_is_made_in_registers_is_what_its_tensor_says(tmp_path):
    """A product with X cast from i8: in nvcc's code, and in the function of the CPU beside it."""
    arch, plan = "sm_90a", {**WARPGROUPS, "schedule": "cooperative", "cluster": [1, 1]}
    sizes = {**SIZES, "K": 80}
    module = gpu_module(with_cast(GEMM, "i8"), arch, plan, sizes)
    text = cuda_text(module)
    assert re.search(r"= ptx::cvt_pack_f16\(.*int8_t\(loaded", text)
    assert re.search(r"ptx::wgmma_m64n128k16_f32_f16_ra_tb\(&acc\d?\[0\], &fragment\d?\[0\],", text)
    random = np.random.default_rng(7)
    w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((80, 264), (264,)))
    x = random.integers(-8, 8, (136, 80)).astype(np.int8)
    found = run_ptx_of(module, arch, {"X": x, "W": w, "bias": bias}, tmp_path)["Y"].astype(np.float32)
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias.astype(np.float32), 0)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)
    naive = cuda_text(gpu_module(with_cast(GEMM, "i8"), arch, {"scheme": "naive_2x2_per_thread"}, sizes))
    ran = run(build(naive.replace(*references(naive), *references(text)), tmp_path))
    assert (ran.errors, ran.status, ran.line) == ("", 0, "max_abs_err=0.000000")


def test_the_cpu_computes_the_same_whatever_loads_the_tiles(tmp_path):
    """The functions of the CPU in files with tensor cores, beside a kernel that runs on the CPU, too."""
    naive = cuda_text(gpu_module(GEMM, "sm_80", {"scheme": "naive_2x2_per_thread"}, SIZES))
    assert "ptx::" not in naive
    plans = [PLANS[0], PLANS[1], ("sm_80", {**WARPS, **IN_SLICES})]
    found = [references(cuda_text(gpu_module(GEMM, *plan, SIZES))) for plan in plans]
    named = [
        text.replace("matmul_add_relu_cast", f"product{number}") for number, each in enumerate(found) for text in each
    ]
    assert len(named) == 4
    ran = run(build(naive.replace(*references(naive), "\n".join([*named, ALL_ALIKE])), tmp_path))
    assert (ran.errors, ran.status, ran.line) == ("", 0, "max_abs_err=0.000000")


def test_main_launches_the_kernel_that_the_sizes_allow():
    text = cuda_text(gpu_module(GEMM, "sm_80", WARPS))
    launches = re.findall(r"(\w+)<<<grid, dim3\(\d+, 1, 1\), \d+>>>", text)
    assert launches == ["matmul_add_relu_cast_aligned", "matmul_add_relu_cast"]
    assert "  if (8 * floor_div(K, 8) == K && 8 * floor_div(N, 8) == N) {\n" in text
    assert re.findall(r"static void (\w+)_reference", text) == ["matmul_add_relu_cast"]


def test_main_launches_what_finishes_the_sums_of_slices():
    text = cuda_text(gpu_module(GEMM, "sm_80", {**WARPS, **IN_SLICES}))
    launched = [name.removeprefix("matmul_add_relu_cast") for name in re.findall(r"(\w+)<<<", text)]
    assert launched == ["_aligned_init", "_init", "_aligned", ""]
    assert len(references(text)) == 2


def references(text):
    """The functions of the CPU."""
    return re.findall(r"^static void \w+_reference\(.*?^}", text, re.MULTILINE | re.DOTALL)
