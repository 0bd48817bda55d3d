"""How a plan comes to scheme `mma`: by name, by its fields, by a precision or an algorithm that only it has."""

from analysis_programs.region_kernels import one_kernel
from analysis_programs.tiny_programs import Program
from schemes.candidates import elementwise, gemm
from schemes.judging import SM80, SM90, refusal
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.dialects.registry import context
from tinyc.plan.fields import Plan
from tinyc.schemes.completion import completed_plan, default_plan, fits


def test_a_product_for_tensor_cores_is_computed_by_them():
    assert default_plan(gemm(), SM80).plan.scheme == "mma"
    assert default_plan(gemm(element="f32"), SM80).plan.scheme == "naive_2x2_per_thread"


def test_the_running_plan_names_no_scheme():
    plan = completed_plan(Plan(tile=(128, 64, 64), stages=2, warp_tile="64x64"), gemm(), SM90)
    assert (plan.scheme, plan.arch, plan.algo_choice) == ("mma", "sm_90a", {"matmul": "implicit_gemm"})


def test_a_precision_that_only_tensor_cores_have():
    plan = completed_plan(Plan(precision="tf32"), gemm(element="f32"), SM80)
    assert (plan.scheme, plan.precision) == ("mma", "tf32")
    assert completed_plan(plan, gemm(element="f32"), SM80) == plan
    assert fits(Plan(precision="tf32"), gemm(element="f32"), SM80)
    assert not fits(Plan(precision="tf32"), elementwise(), SM80)


def test_slices_are_of_the_scheme_that_has_them():
    plan = completed_plan(Plan(algo_choice={"matmul": "splitk_parallel"}), gemm(128, 128, 8192), SM80)
    assert (plan.scheme, plan.algo_choice) == ("mma", {"matmul": "splitk_parallel"})


def test_f32_by_name_alone_says_what_to_ask_for():
    name, message = refusal(Plan(scheme="mma"), gemm(element="f32"))
    assert name == "PlanMismatch"
    assert message == (
        "'scheme' is 'mma', which does not accept @matmul: tensor cores round f32 to tf32, which a plan has to ask "
        'for: "precision": "tf32"; choose naive_2x2_per_thread or generic'
    )


def test_an_algorithm_that_is_missing():
    assert refusal(Plan(scheme="mma", algo_choice={"matmul": "streamk"})) == (
        "UnsupportedPlan",
        "'algo_choice' is 'streamk', and a tile of the template is whole along k, or in equal slices; write "
        "implicit_gemm, splitk_serial or splitk_parallel",
    )


def test_a_convolution_passes_through_registers_where_it_is_padded():
    p = Program(X="f16 8 16 9", W="f16 32 16 3")
    padded = p.pad(p["X"], lo=(0, 0, 1), hi=(0, 0, 1), value=0.0)
    windows = p.pool(padded, kernel=(3,), stride=(1,), dilation=(1,))
    lhs = p.expand(windows, shape="8 9 32 16 3", broadcast_dimensions=(0, 3, 1, 4))
    rhs = p.expand(p["W"], shape="8 9 32 16 3", broadcast_dimensions=(2, 3, 4))
    kernel = one_kernel(p.result(p.sum(p.mul(lhs, rhs), 3, 4)))
    with context():
        candidate = kernel_candidate(kernel, {})
    assert candidate.product is not None, candidate.no_product
    assert candidate.product.lhs.access == "it is padded"
    plan = default_plan(candidate, SM90).plan
    assert (plan.scheme, plan.schedule, plan.algo_choice) == ("mma", "simple", {"conv": "implicit_gemm"})
