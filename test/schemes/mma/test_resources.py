"""Shared memory, registers and CTAs of an SM, against numbers by hand."""

import dataclasses

import pytest

from schemes.candidates import gemm
from schemes.judging import SM80, SM90
from tinyc.analysis.candidate import Epilogue
from tinyc.analysis.strided_access import AxisRun, StridedAccess
from tinyc.expr import extents
from tinyc.schemes.mma.case import mma_case
from tinyc.schemes.mma.loads import Load
from tinyc.schemes.mma.registers import pieces_at_a_time
from tinyc.schemes.mma.resources import launch_registers, mma_resources, most_stages, resource_faults
from tinyc.schemes.mma.shared_memory import slab_bytes, slab_columns, stage_bytes, staged_residuals
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.vocabulary.broadcast import Broadcast
from tinyc.vocabulary.element_type import ElementType

F16 = ElementType.F16, ElementType.F16
ON_SM80 = mma_case(gemm(4096, 4096, 4096), SM80)
ON_SM90 = mma_case(gemm(4096, 4096, 4096), SM90)
AMPERE = MmaTiling((128, 128, 32), (64, 64), 32, stages=4)
HOPPER = MmaTiling((128, 256, 64), (64, 256), 128, stages=4, schedule="cooperative", registers=(40, 232))


def test_a_cta_of_sm_80():
    taken = mma_resources(AMPERE, ON_SM80)
    assert (taken.threads, taken.staged_bytes) == (128, 4 * 2 * 128 * 32 * 2)
    assert taken.slab_bytes == 128 * 128 * 2  # two warps side by side finish 64 columns each
    assert taken.shared_bytes == 65536  # the circular buffer is free when the tile is finished
    # 128 accumulators, 40 others, and one and a half times 4 fragments of A of 4 registers and 8 of B of 2
    assert taken.registers_per_thread == 128 + 40 + 3 * (4 * 4 + 8 * 2) // 2
    assert taken.registers_per_cta == 216 * 32 * 4
    assert (taken.ctas_per_sm, taken.limiter) == (2, "shared memory")
    assert taken.occupancy == 2 * 128 / 2048


def test_a_cta_of_sm_90_with_roles():
    taken = mma_resources(HOPPER, ON_SM90)
    assert (taken.threads, taken.staged_bytes) == (384, 4 * (128 + 256) * 64 * 2)
    assert taken.slab_bytes == 2 * 128 * 64 * 2  # two in turn, of 64 columns
    assert taken.shared_bytes == 196608 + 32768 + 1024
    assert taken.registers_per_thread == 128 + 26 + 8
    assert taken.registers_per_cta == 168 * 384
    assert (taken.ctas_per_sm, taken.limiter) == (1, "shared memory")


@pytest.mark.parametrize(
    ("consumers", "registers", "launched"), [(1, (40, 232), 232), (2, (40, 232), 168), (3, (32, 160), 128)]
)
def test_a_launch_has_registers_for_all_roles(consumers, registers, launched):
    tiling = dataclasses.replace(HOPPER, tile=(64 * consumers, 128, 64), unit_tile=(64, 128), registers=registers)
    assert launch_registers(tiling, SM90) == launched
    assert launched * (1 + consumers) >= registers[0] + consumers * registers[1]


def test_warpgroups_with_tiles_of_their_own_have_slabs_of_their_own():
    tiling = dataclasses.replace(HOPPER, tile=(64, 256, 64), schedule="pingpong")
    assert (tiling.consumers, tiling.threads) == (2, 384)
    assert slab_bytes(tiling, ON_SM90) == 2 * 2 * 64 * 64 * 2


def test_columns_that_are_finished_at_a_time_are_at_most_128_bytes():
    assert (slab_columns(HOPPER, 2), slab_columns(HOPPER, 4)) == (64, 32)
    assert slab_columns(dataclasses.replace(HOPPER, unit_tile=(64, 32)), 2) == 32
    assert slab_columns(dataclasses.replace(HOPPER, unit_tile=(64, 160)), 2) == 32  # five times as many, all alike


def test_tiles_begin_where_swizzles_do():
    assert stage_bytes(MmaTiling((16, 32, 16), (16, 32), 32, 2), F16) == 1024 + 1024


def test_full_operands_of_an_epilogue_take_registers():
    residual = mma_case(gemm(512, 512, 512, epilogue=Epilogue(("residual",), (Broadcast.FULL,))), SM90)
    assert mma_resources(HOPPER, residual).registers_per_thread == 128 + 26 + 2 * 8


def test_what_is_on_its_way_takes_registers():
    by_elements = Load("registers", 2, "col", 128), Load("cp_async", 16, "col", 64)
    narrow = Load("cp_async", 4, "row", 64), Load("cp_async", 4, "col", 64)
    plain = mma_resources(AMPERE, ON_SM80).registers_per_thread
    elements = 128 * 32 // AMPERE.threads
    # whole tiles: a register for each element, and for each copy of 16 bytes; ragged ones: of 4 bytes, too
    assert mma_resources(AMPERE, ON_SM80, by_elements).registers_per_thread == plain + elements + elements // 8
    ragged = mma_case(gemm(500, 500, 512), SM80)
    assert mma_resources(AMPERE, ragged, narrow).registers_per_thread == plain + 2 * (elements // 2)
    dynamic = mma_case(gemm("M", "N", "K"), SM80)
    assert mma_resources(AMPERE, dynamic, narrow).registers_per_thread == plain + 2 * 2 * (elements // 2)


def matrix(element, columns=512):
    """Where the elements of a matrix of 512 rows are, row-major."""
    return StridedAccess(2, element, 0, (AxisRun(512, columns),), (AxisRun(columns, 1),), ())


@pytest.mark.parametrize(
    ("stages", "residuals", "staged"),
    [
        (4, [ElementType.F16], {0}),  # 64 KiB of stages: 32 for the output, and for a residual
        (4, [ElementType.F16, ElementType.F16], {0}),
        (6, [ElementType.F16, ElementType.F16], {0, 1}),
        (3, [ElementType.F16], set()),
        (4, [ElementType.F32], set()),
        (6, [ElementType.F32], {0}),
        (10, [ElementType.F16, ElementType.F32], {0}),  # of one type
    ],
)
def test_residuals_are_staged_where_the_circular_buffer_has_room(stages, residuals, staged):
    tiling, accesses = dataclasses.replace(AMPERE, stages=stages), [matrix(each) for each in residuals]
    found = staged_residuals(tiling, accesses, [matrix(ElementType.F16)], F16)
    assert found.keys() == staged


def test_a_residual_is_copied_by_16_bytes_or_read_by_threads():
    symbolic, known = matrix(ElementType.F16, extents.symbol("N")), matrix(ElementType.F16)
    assert staged_residuals(AMPERE, [matrix(ElementType.F16, 511)], [known], F16) == {}
    assert staged_residuals(AMPERE, [symbolic], [symbolic], F16) == {0: ((extents.symbol("N"), 8),)}
    assert staged_residuals(AMPERE, [symbolic], [symbolic], F16, guarded=False) == {}


@pytest.mark.parametrize("tiling", [AMPERE, HOPPER])
def test_a_residual_that_needs_more_than_stores_do_is_read_by_threads(tiling):
    symbolic = extents.symbol("N")
    stored, mask = [matrix(ElementType.F16, symbolic)], [matrix(ElementType.I8, symbolic)]
    assert staged_residuals(tiling, mask, stored, F16) == {}
    assert staged_residuals(tiling, mask, [matrix(ElementType.I8, symbolic)], F16).keys() == {0}
    assert staged_residuals(tiling, [matrix(ElementType.I8)], stored, F16).keys() == {0}


def test_an_epilogue_of_several_full_operands_is_finished_in_pieces():
    one, two = (gemm(512, 512, 512, epilogue=Epilogue(("add",), (Broadcast.FULL,) * count)) for count in (1, 2))
    assert pieces_at_a_time(AMPERE, mma_case(one, SM80)) == 0
    # 128 accumulators and 40 others leave 87 registers; a piece of two tensors, read apart, takes 20
    assert pieces_at_a_time(AMPERE, mma_case(two, SM80)) == 4
    small = dataclasses.replace(AMPERE, tile=(64, 64, 32), unit_tile=(32, 32))
    assert pieces_at_a_time(small, mma_case(two, SM80)) == 0


def test_an_epilogue_that_reads_nothing_needs_no_room():
    few = dataclasses.replace(HOPPER, registers=(40, 168))  # 128 accumulators and 72 others are more
    assert pieces_at_a_time(few, mma_case(gemm("M", "N", "K"), SM90)) == 0


def test_as_many_stages_as_there_is_room_for():
    assert most_stages(HOPPER, ON_SM90, F16) == 4
    assert most_stages(AMPERE, ON_SM80, F16) == 8
    assert most_stages(dataclasses.replace(AMPERE, tile=(256, 128, 64)), ON_SM80, F16) == 3


def test_what_fits_has_no_faults():
    for tiling, case in ((AMPERE, ON_SM80), (HOPPER, ON_SM90)):
        assert list(resource_faults(tiling, mma_resources(tiling, case), case)) == []


def test_more_threads_than_a_cta_has():
    tiling = dataclasses.replace(AMPERE, tile=(256, 256, 32), unit_tile=(16, 32))
    assert list(resource_faults(tiling, mma_resources(tiling, ON_SM80), ON_SM80)) == [
        (
            "warp_tile",
            "makes 128 units of 32 threads, 4096 threads per CTA; sm_80 has 1024; choose a larger one or a smaller "
            "tile",
        )
    ]


def test_what_a_is_made_of_counts_in_shared_memory_and_its_fragments_in_registers():
    loads = Load("tma", 16, "row", 64, source=ElementType.I8), Load("tma", 16, "row", 128)
    plain, made = mma_resources(HOPPER, ON_SM90), mma_resources(HOPPER, ON_SM90, loads)
    assert plain.staged_bytes - made.staged_bytes == 4 * 128 * 64
    assert made.registers_per_thread == 128 + 26 + 4 * (64 // 16 + 2)
    assert most_stages(HOPPER, ON_SM90, (ElementType.I8, ElementType.F16)) == 4
    deep = dataclasses.replace(HOPPER, stages=6)
    (fault,) = resource_faults(deep, mma_resources(deep, ON_SM90, loads), ON_SM90, loads)
    assert "6 x (128x64 i8 + 64x256 f16) = 245760 bytes" in fault[1]
