"""What brings operands to shared memory: TMA, cp.async or registers, by where they lie and what a plan says."""

import dataclasses

import pytest

from schemes.candidates import gemm
from schemes.judging import SM80, SM90
from tinyc.analysis.candidate import Candidate
from tinyc.analysis.strided_access import AxisRun, Side
from tinyc.plan.fields import Plan
from tinyc.schemes.mma.case import MmaCase, mma_case
from tinyc.schemes.mma.loads import Load, Loading, loading_of, staged_elements, tile_loads
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.target.target import Target
from tinyc.vocabulary.element_type import ElementType

TILING = MmaTiling((128, 128, 64), (64, 128), 128, stages=4)


def loads(candidate: Candidate, target: Target, loading: Loading | None = None, guarded: bool = True, precision="ieee"):
    case = mma_case(candidate, target, precision)
    assert isinstance(case, MmaCase), case
    return tile_loads(TILING, dataclasses.replace(loading or Loading(), guarded=guarded), case.product, case.unit)


def lhs_with(candidate: Candidate, **changes) -> Candidate:
    """The candidate with another access of its left operand."""
    product = candidate.product
    access = dataclasses.replace(product.lhs.access, **changes)
    return dataclasses.replace(
        candidate, product=dataclasses.replace(product, lhs=dataclasses.replace(product.lhs, access=access))
    )


def test_dense_operands_are_copied_as_they_lie():
    a, b = loads(gemm(4096, 4096, 4096), SM90)
    assert (a, b) == (Load("tma", 16, "row", 128), Load("tma", 16, "row", 128))
    a, b = loads(gemm(4096, 4096, 4096), SM80)
    assert (a, b) == (Load("cp_async", 16, "row", 128), Load("cp_async", 16, "row", 128))


def test_transposed_operands_lie_transposed_in_shared_memory():
    a, b = loads(gemm(4096, 4096, 4096, layout="tt"), SM90)
    assert (a.kind, a.order, b.kind, b.order) == ("tma", "col", "tma", "col")


def test_a_swizzle_spans_what_a_unit_has_of_the_contiguous_side():
    case = mma_case(gemm(4096, 4096, 4096), SM90)
    tiling = dataclasses.replace(TILING, tile=(128, 64, 32), unit_tile=(64, 32))
    a, b = tile_loads(tiling, Loading(), case.product, case.unit)
    assert (a.swizzle, b.swizzle) == (64, 64)


@pytest.mark.parametrize(("pitch", "size"), [(4104, 16), (4100, 8), (4098, 4)])
def test_a_copy_is_as_wide_as_pitches_are_multiples(pitch, size):
    a, _ = loads(gemm(4096, 4096, pitch), SM80)
    assert (a.kind, a.bytes) == ("cp_async", size)


def test_an_odd_pitch_passes_through_registers():
    for target in (SM80, SM90):
        a, b = loads(gemm(1000, 3000, 777), target)
        assert (a.kind, a.reason) == (
            "registers",
            "its rows do not begin at multiples of 4 bytes, which cp.async takes",
        )
        assert b.kind == ("cp_async" if target is SM80 else "tma")


def test_a_pitch_that_tma_does_not_take_is_copied_by_cp_async():
    a, _ = loads(gemm(4096, 4096, 4100), SM90)
    reason = "its row pitch or its first element is not at a multiple of 16 bytes"
    assert (a.kind, a.bytes, a.reason) == ("cp_async", 8, reason)


def test_more_rows_than_tma_counts_are_copied_by_cp_async():
    a, b = loads(gemm(2**31, 4096, 64), SM90)
    assert (a.kind, b.kind) == ("cp_async", "tma")
    assert a.reason == "it has 2147483648 elements along an axis, and TMA counts 2147483647"
    assert loads(gemm(2**31 - 1, 4096, 64), SM90)[0].kind == "tma"


def test_a_part_of_a_buffer_is_copied_by_cp_async():
    a, _ = loads(lhs_with(gemm(4096, 4096, 4096), offset=64), SM90)
    assert (a.kind, a.bytes, a.reason) == (
        "cp_async",
        16,
        "it does not begin where its buffer does, as a tensor map takes it",
    )


def test_what_is_not_known_is_needed_or_does_without():
    a, b = loads(gemm("M", "N", "K"), SM90)
    assert [(str(extent), number) for extent, number in a.needs] == [("K", 8)]
    assert [(str(extent), number) for extent, number in b.needs] == [("N", 8)]
    a, b = loads(gemm("M", "N", "K"), SM90, guarded=False)
    assert (a.kind, b.kind) == ("registers", "registers")
    a, _ = loads(gemm("M", "N", "8*K"), SM90, guarded=False)
    assert (a.kind, a.needs) == ("tma", ())


def test_the_first_element_counts_as_pitches_do():
    a, _ = loads(lhs_with(gemm(4096, 4096, 4096), offset=4), SM80)
    assert (a.kind, a.bytes) == ("cp_async", 8)


def test_a_broadcast_batch_is_aligned():
    a, _ = loads(lhs_with(gemm(512, 512, 512, batch=8), batch=(AxisRun(8, 0),)), SM90)
    assert a.kind == "tma"


def runs(*pairs: tuple[int, int]) -> Side:
    return tuple(AxisRun(*pair) for pair in pairs)


def test_rows_of_several_runs_are_copied_by_cp_async():
    a, _ = loads(lhs_with(gemm(512, 512, 512), rows=runs((8, 65536), (64, 512))), SM90)
    assert (a.kind, a.reason) == ("cp_async", "its rows are 2 runs of axes in memory, and a box of TMA has one")


def test_a_run_that_goes_on_elsewhere_is_whole_copies():
    a, _ = loads(lhs_with(gemm(512, 512, 512), columns=runs((64, 4096), (8, 1))), SM80)
    assert (a.kind, a.bytes) == ("cp_async", 16)
    a, _ = loads(lhs_with(gemm(512, 512, 516), columns=runs((129, 4096), (4, 1))), SM80)
    assert (a.kind, a.bytes) == ("cp_async", 8)


def test_warpgroups_have_i8_and_tf32_with_k_contiguous():
    reason = "tensor cores take i8 with k contiguous, and its other side is"
    a, b = loads(gemm(4096, 4096, 4096, element="i8"), SM90)
    assert (a.kind, b.kind, b.order, b.reason) == ("tma", "registers", "col", reason)
    a, b = loads(gemm(4096, 4096, 4096, element="f32", layout="nt"), SM90, precision="tf32")
    assert (a.kind, b.kind, b.order) == ("tma", "tma", "col")


def test_warps_read_tf32_of_either_side_from_where_it_lies():
    a, b = loads(gemm(4096, 4096, 4096, element="f32", layout="tn"), SM80, precision="tf32")
    assert (a, b) == (Load("cp_async", 16, "col", 128), Load("cp_async", 16, "row", 128))
    a, b = loads(gemm("M", "N", "K", element="f32"), SM80, guarded=False, precision="tf32")
    assert (a, b) == (Load("cp_async", 4, "row", 128), Load("cp_async", 4, "row", 128))
    _, b = loads(gemm(4096, 4096, 4096, element="f32"), SM90, precision="tf32")
    assert b.kind == "registers"


def test_what_is_computed_passes_through_registers():
    product = gemm(512, 512, 512).product
    computed = dataclasses.replace(product.lhs, access="its elements are computed: mul")
    candidate = dataclasses.replace(gemm(512, 512, 512), product=dataclasses.replace(product, lhs=computed))
    a, _ = loads(candidate, SM90)
    assert (a.kind, a.order, a.reason) == ("registers", "row", "its elements are computed: mul")


def made_of(candidate: Candidate, element: ElementType, **changes) -> Candidate:
    """The candidate with a left operand that is computed from one tensor of another type, element by element."""
    product = candidate.product
    source = dataclasses.replace(product.lhs.access, element=element, **changes)
    lhs = dataclasses.replace(product.lhs, access="its elements are computed: mul", source=source)
    return dataclasses.replace(candidate, product=dataclasses.replace(product, lhs=lhs))


def test_what_warpgroups_make_of_one_tensor_is_copied_as_it_lies():
    candidate = made_of(gemm(512, 512, 512), ElementType.I8)
    a, _ = loads(candidate, SM90)
    assert a == Load("tma", 16, "row", 64, (), "its elements are computed: mul", ElementType.I8)
    assert loads(candidate, SM80)[0].kind == "registers"
    assert loads(candidate, SM90, Loading(asynchronous=False))[0].kind == "registers"
    a, _ = loads(made_of(gemm(512, 512, 512), ElementType.F32), SM90)
    assert (a.kind, a.swizzle, a.source) == ("tma", 128, ElementType.F32)


def test_what_copies_do_not_take_is_computed_as_it_is_loaded():
    a, _ = loads(made_of(gemm(512, 512, 8 * 65), ElementType.I8), SM90)
    assert (a.kind, a.bytes, a.source) == ("cp_async", 8, ElementType.I8)
    a, _ = loads(made_of(gemm(512, 512, 777), ElementType.I8), SM90)
    assert (a.kind, a.source) == ("registers", None)
    a, _ = loads(made_of(gemm("M", "N", "K"), ElementType.I8), SM90)
    assert [(str(extent), number) for extent, number in a.needs] == [("K", 16)]
    assert loads(made_of(gemm("M", "N", "K"), ElementType.I8), SM90, guarded=False)[0].kind == "registers"
    wide = made_of(gemm(512, 512, 512), ElementType.F64)
    assert loads(wide, SM90)[0].kind == "registers"


def test_the_types_of_tiles_are_those_of_all_tilings():
    case = mma_case(made_of(gemm(512, 512, 512), ElementType.I8), SM90)
    assert isinstance(case, MmaCase)
    assert staged_elements(Loading(), case.product, case.unit) == (ElementType.I8, ElementType.F16)


def test_a_cast_that_narrow_factors_need_passes_through_registers():
    product = gemm(512, 512, 512).product
    widened = dataclasses.replace(
        product.lhs, access=dataclasses.replace(product.lhs.access, element=product.accumulator)
    )
    candidate = dataclasses.replace(gemm(512, 512, 512), product=dataclasses.replace(product, lhs=widened))
    assert loads(candidate, SM80)[0].reason == "its elements are cast from f32"


def test_a_plan_switches_copies_and_swizzles_off():
    loading = loading_of(Plan(asynchronous={"enable": False}, layout_hints={"A_swizzle": False}))
    a, b = loads(gemm(4096, 4096, 4096), SM80, loading)
    assert (a.kind, a.swizzle, a.reason) == ("registers", 0, "'async' is not enabled")
    assert (b.kind, b.swizzle) == ("registers", 128)
