"""The facts about a region that a plan is made for."""

from region_kernels import formed_kernels, matmul, one_kernel
from tiny_programs import Program, gemm_bias_relu

from tinyc.mlir import context
from tinyc.plan.fields import NAIVE
from tinyc.plan.workload import Workload, workload_of


def formed(program: Program) -> dict[str, Workload]:
    """Return the workloads of the kernels that tiny-to-region makes of a program."""
    kernels = formed_kernels(program)
    with context():
        return {name: workload_of(kernel) for name, kernel in kernels.items()}


def only(program: Program) -> Workload:
    (workload,) = formed(program).values()
    return workload


def alone(program: Program) -> Workload:
    """Return the workload of a whole program as one kernel."""
    kernel = one_kernel(program)
    with context():
        return workload_of(kernel)


def extents(workload: Workload) -> dict[str, str]:
    assert workload.product is not None, workload.reason
    return {axis: str(extent) for axis, extent in workload.product.extents.items()}


def test_the_running_example():
    workload = only(gemm_bias_relu())
    product = workload.product
    assert (workload.name, workload.scheme) == ("matmul_add_relu_cast", NAIVE)
    assert extents(workload) == {"m": "M", "n": "N", "k": "K", "batch": "1"}
    assert (product.lhs.names, product.rhs.names) == (("X",), ("W",))
    assert (product.lhs.element, product.rhs.element, product.accumulator) == ("f16", "f16", "f32")
    assert product.epilogue == ("bias", "relu")
    assert [each.kind for each in product.inputs] == ["column"]


def test_axes_of_one_role_are_taken_together():
    p = Program(A="f16 B M K", W="f16 K N")
    lhs = p.expand(p["A"], shape="B M N K", broadcast_dimensions=(0, 1, 3))
    rhs = p.expand(p["W"], shape="B M N K", broadcast_dimensions=(3, 2))
    workload = only(p.result(p.sum(p.mul(lhs, rhs), 3)))
    assert extents(workload) == {"m": "B*M", "n": "N", "k": "K", "batch": "1"}


def test_axes_that_no_operand_is_read_along_are_batch():
    p = Program(A="f16 M K", W="f16 K N")
    lhs = p.expand(p["A"], shape="5 M N K", broadcast_dimensions=(1, 3))
    rhs = p.expand(p["W"], shape="5 M N K", broadcast_dimensions=(3, 2))
    assert extents(only(p.result(p.sum(p.mul(lhs, rhs), 3))))["batch"] == "5"


def test_launches_that_share_a_kernel_name_its_operands_together():
    p = Program(A="f32 M K", B="f32 M K", W="f32 K N")
    product = only(p.result(matmul(p, p["A"], p["W"]), matmul(p, p["B"], p["W"]))).product
    assert (product.lhs.names, product.rhs.names) == (("A", "B"), ("W",))


def test_an_operand_that_another_kernel_computes_has_no_name():
    p = Program(A="f32 M K", W="f32 K N")
    product = formed(p.result(matmul(p, p.exp2(p["A"]), p["W"])))["matmul"].product
    assert (product.lhs.names, product.rhs.names) == ((), ("W",))


def test_an_operand_that_is_computed_in_the_kernel_is_multiplied_in_its_own_type():
    p = Program(A="f16 M K", W="f32 K N")
    product = alone(p.result(matmul(p, p.cast(p["A"], element="f32"), p["W"]))).product
    assert product.lhs.element == "f32"


def test_an_element_wise_kernel_is_no_product():
    p = Program(X="f32 4")
    workload = only(p.result(p.neg(p["X"])))
    assert (workload.scheme, workload.product) == ("generic", None)
    assert workload.reason == "it is not one reduction whose result is written element by element"


def test_a_reduction_that_is_no_contraction_says_why():
    p = Program(X="f32 4 5")
    reason = "its reduction is no contraction: the operand is no product"
    assert only(p.result(p.sum(p["X"], 1))).reason == reason


def test_a_sum_that_is_read_through_a_movement_is_no_product():
    p = Program(A="f32 M K", W="f32 K N")
    moved = p.permute(matmul(p, p["A"], p["W"]), perm=(1, 0))
    assert alone(p.result(moved)).scheme == "generic"


def test_products_that_are_moved_before_they_are_summed_are_none():
    p = Program(A="f32 M K", W="f32 K N")
    lhs = p.expand(p["A"], shape="M N K", broadcast_dimensions=(0, 2))
    rhs = p.expand(p["W"], shape="M N K", broadcast_dimensions=(2, 1))
    moved = p.permute(p.mul(lhs, rhs), perm=(1, 0, 2))
    assert alone(p.result(p.sum(moved, 2))).reason == "its products are moved before they are summed"


def test_extents_beyond_what_can_be_said_make_no_product():
    first, second = (" + ".join(f"{letter}{k}" for k in range(17)).replace(" ", "") for letter in "ab")
    p = Program(A=f"f32 {first} {second} K", W="f32 K N")
    shape = f"{first} {second} N K"
    lhs = p.expand(p["A"], shape=shape, broadcast_dimensions=(0, 1, 3))
    rhs = p.expand(p["W"], shape=shape, broadcast_dimensions=(3, 2))
    workload = alone(p.result(p.sum(p.mul(lhs, rhs), 3)))
    assert workload.reason.startswith("the product of its extents is beyond what an extent can say")


def test_a_sum_that_nothing_reads_is_no_product():
    p = Program(A="f32 M K", W="f32 K N")
    matmul(p, p["A"], p["W"])
    assert alone(p.result(p.neg(p["A"]))).scheme == "generic"
