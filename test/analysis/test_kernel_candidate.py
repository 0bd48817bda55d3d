"""The facts about a region by which its scheme is chosen."""

from analysis_programs.region_kernels import formed_kernels, matmul, one_kernel
from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.candidate import Candidate, ScatteredUpdates
from tinyc.analysis.host_names import host_names
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.dialects.registry import context


def formed(program: Program, fusion: str = "") -> dict[str, Candidate]:
    """The candidates that the kernels which tiny-to-region makes of a program are; see `formed_kernels`."""
    kernels = formed_kernels(program, fusion)
    with context():
        names = host_names(program.module)
        return {name: kernel_candidate(kernel, names) for name, kernel in kernels.items()}


def only(program: Program) -> Candidate:
    (candidate,) = formed(program).values()
    return candidate


def alone(program: Program) -> Candidate:
    """A whole program as one kernel."""
    with context():
        return kernel_candidate(one_kernel(program), {})


def extents(candidate: Candidate) -> dict[str, str]:
    assert candidate.product is not None, candidate.no_product
    return {axis: str(extent) for axis, extent in candidate.product.extents.items()}


def test_the_running_example():
    candidate = only(gemm_bias_relu())
    product = candidate.product
    assert candidate.name == "matmul_add_relu_cast"
    assert extents(candidate) == {"m": "M", "n": "N", "k": "K", "batch": "1"}
    assert (product.lhs.names, product.rhs.names) == (("X",), ("W",))
    assert (product.lhs.element, product.rhs.element, product.accumulator) == ("f16", "f16", "f32")
    assert product.epilogue.ops == ("bias", "relu")
    assert product.epilogue.inputs == ("column",)


def test_a_product_in_f16_accumulates_in_f32():
    p = Program(A="f16 M K", W="f16 K N")
    assert only(p.result(matmul(p, p["A"], p["W"]))).product.accumulator == "f32"


def test_axes_of_one_role_are_taken_together():
    p = Program(A="f16 B M K", W="f16 K N")
    lhs = p.expand(p["A"], shape="B M N K", broadcast_dimensions=(0, 1, 3))
    rhs = p.expand(p["W"], shape="B M N K", broadcast_dimensions=(3, 2))
    candidate = only(p.result(p.sum(p.mul(lhs, rhs), 3)))
    assert extents(candidate) == {"m": "B*M", "n": "N", "k": "K", "batch": "1"}


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
    product = formed(p.result(matmul(p, p.exp2(p["A"]), p["W"])), "none")["matmul"].product
    assert (product.lhs.names, product.rhs.names) == ((), ("W",))


def test_an_operand_that_is_computed_in_the_kernel_is_multiplied_in_its_own_type():
    p = Program(A="f16 M K", W="f32 K N")
    product = alone(p.result(matmul(p, p.cast(p["A"], element="f32"), p["W"]))).product
    assert product.lhs.element == "f32"


def test_an_element_wise_kernel_is_no_product():
    p = Program(X="f32 4")
    candidate = only(p.result(p.neg(p["X"])))
    assert candidate.product is None
    assert candidate.no_product == "it is not one reduction whose result is written element by element"


def test_a_reduction_that_is_no_contraction_says_why():
    p = Program(X="f32 4 5")
    reason = "its reduction is not a contraction: the operand is not a product"
    assert only(p.result(p.sum(p["X"], 1))).no_product == reason


def test_a_sum_whose_elements_are_moved_is_a_product():
    p = Program(A="f32 M K", W="f32 K N")
    moved = p.permute(matmul(p, p["A"], p["W"]), perm=(1, 0))
    assert alone(p.result(moved)).product is not None


def test_a_sum_that_is_read_at_several_indices_is_no_product():
    p = Program(A="f32 8 K", W="f32 K 8")
    found = matmul(p, p["A"], p["W"], "8 8 K")
    assert alone(p.result(p.add(found, p.permute(found, perm=(1, 0))))).product is None


def test_products_that_are_moved_before_they_are_summed_are_none():
    p = Program(A="f32 M K", W="f32 K N")
    lhs = p.expand(p["A"], shape="M N K", broadcast_dimensions=(0, 2))
    rhs = p.expand(p["W"], shape="M N K", broadcast_dimensions=(2, 1))
    moved = p.permute(p.mul(lhs, rhs), perm=(1, 0, 2))
    assert alone(p.result(p.sum(moved, 2))).no_product == "its products are moved before they are summed"


def test_extents_beyond_what_can_be_said_make_no_product():
    first, second = (" + ".join(f"{letter}{k}" for k in range(17)).replace(" ", "") for letter in "ab")
    p = Program(A=f"f32 {first} {second} K", W="f32 K N")
    shape = f"{first} {second} N K"
    lhs = p.expand(p["A"], shape=shape, broadcast_dimensions=(0, 1, 3))
    rhs = p.expand(p["W"], shape=shape, broadcast_dimensions=(3, 2))
    candidate = alone(p.result(p.sum(p.mul(lhs, rhs), 3)))
    assert candidate.no_product.startswith("the product of its extents is not a representable extent")


def test_a_sum_that_nothing_reads_is_no_product():
    p = Program(A="f32 M K", W="f32 K N")
    matmul(p, p["A"], p["W"])
    assert alone(p.result(p.neg(p["A"]))).product is None


def test_outputs_have_their_extents():
    p = Program(X="f32 M 4", Y="f32 M")
    outputs = alone(p.result(p.neg(p["X"]), p.neg(p["Y"]))).outputs
    assert [tuple(map(str, each)) for each in outputs] == [("M", "4"), ("M",)]


def test_a_scatter_has_updates_that_are_put_or_added():
    for op, adds in (("set", False), ("add", True)):
        p = Program(X="f32 5", I="i64 3", U="f32 3")
        scattered = p.scatter(p["X"], p["I"], p["U"], axis=0, op=op)
        assert alone(p.result(scattered)).scatter == ScatteredUpdates((3,), adds)


def test_a_top_k_searches_the_other_axes():
    p = Program(X="f32 4 5 6")
    values = p.topk(p["X"], k=2, axis=1, largest=True)
    assert alone(p.result(*values.owner.results)).top_k == (4, 6)
