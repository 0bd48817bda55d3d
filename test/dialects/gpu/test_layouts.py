"""Layouts of tiles in shared memory and in registers: as the hardware has them, and without conflicts of banks."""

import itertools

import numpy as np
import pytest

from ptxsim.matrix.fragments import mma_fragments
from ptxsim.matrix.modifiers import MatrixShape
from ptxsim.tensor_maps.swizzle import swizzled_addresses
from ptxsim.wgmma.descriptor import chunk_addresses
from tinyc.dialects.gpu.expand.wgmma import descriptor_parts
from tinyc.dialects.gpu.fragment_layout import WARP_LANES, WARPGROUP_THREADS, FactorLayout, FragmentLayout
from tinyc.dialects.gpu.shared_layout import CHUNK_BYTES, SharedLayout

BANKS, BANK_BYTES = 32, 4
#: Rows and columns, bytes of an element, order, swizzle.
TILES = [
    (64, 64, 2, "row", 128),
    (64, 64, 2, "col", 128),
    (16, 128, 2, "row", 128),
    (128, 32, 2, "row", 64),
    (32, 16, 2, "row", 32),
    (64, 128, 1, "row", 128),
    (32, 64, 4, "row", 128),
    (24, 40, 2, "row", 0),
    (24, 40, 2, "col", 0),
]
SWIZZLED = [tile for tile in TILES if tile[-1]]

each_tile = pytest.mark.parametrize("layout", [SharedLayout(*tile) for tile in TILES], ids=map(str, TILES))
each_swizzled = pytest.mark.parametrize("layout", [SharedLayout(*tile) for tile in SWIZZLED], ids=map(str, SWIZZLED))


def offsets(layout):
    return np.array([[layout.offset(row, column) for column in range(layout.columns)] for row in range(layout.rows)])


@each_tile
def test_every_element_has_one_place(layout):
    assert layout.misfit is None
    places = np.sort(offsets(layout).ravel())
    np.testing.assert_array_equal(places, np.arange(0, layout.size_bytes, layout.element_bytes))


@each_swizzled
def test_the_swizzle_is_that_of_tma(layout):
    # A box of a tensor map is one slab: its lines follow each other, and the address of each byte is swizzled.
    found = offsets(layout) if layout.order == "row" else offsets(layout).T
    for slab in range(layout.slabs):
        lines, places = np.indices((layout.lines, layout.line_elements))
        plain = slab * layout.slab_bytes + lines * layout.line_bytes + places * layout.element_bytes
        expected = swizzled_addresses(plain.astype(np.int64), f"{layout.swizzle}B")
        start = slab * layout.line_elements
        np.testing.assert_array_equal(found[:, start : start + layout.line_elements], expected)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((64, 48, 2, "row", 128), "has 48 neighbours, which lines of 128 bytes (64) do not divide"),
        ((12, 64, 2, "row", 128), "has 12 lines; the swizzle repeats after 8"),
    ],
)
def test_a_tile_that_a_swizzle_does_not_fit(shape, message):
    assert SharedLayout(*shape).misfit == message


# --- banks ------------------------------------------------------------------------------------------------------------


def cycles(addresses, width):
    """How many times the busiest bank is asked for: `width` bytes from each address on, by lanes of one access.

    The hardware serves as many lanes at once as make up all banks, and lanes that read one word together.
    """
    at_once = BANKS * BANK_BYTES // width if width > BANK_BYTES else len(addresses)
    worst = 0
    for first in range(0, len(addresses), at_once):
        words = {at // BANK_BYTES + word for at in addresses[first : first + at_once] for word in range(-(-width // 4))}
        worst = max(worst, *np.bincount([word % BANKS for word in words]))
    return worst


@each_swizzled
def test_eight_lines_that_ldmatrix_reads_are_in_different_banks(layout):
    width = CHUNK_BYTES // layout.element_bytes
    for line, place in itertools.product(range(0, layout.lines, 8), range(0, layout.along, width)):
        at = [(line + each, place) if layout.order == "row" else (place, line + each) for each in range(8)]
        assert cycles([layout.offset(*each) for each in at], CHUNK_BYTES) == 1


def test_without_a_swizzle_they_are_in_one_bank():
    layout = SharedLayout(64, 64, 2)
    assert cycles([layout.offset(row, 0) for row in range(8)], CHUNK_BYTES) == 8


@each_swizzled
def test_chunks_that_neighbouring_threads_copy_are_in_different_banks(layout):
    width = CHUNK_BYTES // layout.element_bytes
    numbers = range(0, layout.size_bytes // CHUNK_BYTES, 8)
    for first in numbers:
        lines = [divmod(number, layout.line_elements // width) for number in range(first, first + 8)]
        places = [
            (line // layout.lines * layout.line_elements + chunk * width, line % layout.lines) for line, chunk in lines
        ]
        at = [place[::-1] if layout.order == "row" else place for place in places]
        assert cycles([layout.offset(*each) for each in at], CHUNK_BYTES) == 1


@pytest.mark.parametrize("unit", ["mma", "wgmma"])
def test_the_pairs_that_an_epilogue_stores_are_in_different_banks(unit):
    tile = SharedLayout(64, 64, 2, "row", 128)
    fragments = FragmentLayout(unit, 64, 64, 64, 64)
    for register in range(0, fragments.registers, 2):
        at = [fragments.place(lane, register) for lane in range(WARP_LANES)]
        assert cycles([tile.offset(*each) for each in at], 2 * tile.element_bytes) == 1


# --- wgmma's descriptors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize(
    "layout", [SharedLayout(*tile) for tile in SWIZZLED if tile[2] == 2 and tile[0] % 16 == 0], ids=str
)
def test_a_descriptor_leads_to_the_elements_of_a_step_along_k(layout, side):
    is_k_major = (layout.order == "row") == (side == "a")
    extent, depth = (layout.rows, layout.columns) if side == "a" else (layout.columns, layout.rows)
    base, width = 4096, CHUNK_BYTES // layout.element_bytes
    for k in range(0, depth, 16):
        start = (0, k) if side == "a" else (k, 0)
        fixed, offset = descriptor_parts(layout, start, side)
        descriptor = fixed | (base + offset) // 16
        found = chunk_addresses(descriptor, extent, 16, layout.element_bytes, not is_k_major)
        lines, chunks = np.indices(found.shape)
        along, at_k = (lines, k + chunks * width) if is_k_major else (chunks * width, k + lines)
        rows, columns = (along, at_k) if side == "a" else (at_k, along)
        expected = base + np.vectorize(layout.offset)(rows, columns)
        np.testing.assert_array_equal(found, expected)


# --- registers --------------------------------------------------------------------------------------------------------

FRAGMENTS = [
    FragmentLayout("mma", 16, 8, 16, 8),
    FragmentLayout("mma", 64, 64, 32, 16),
    FragmentLayout("mma", 128, 32, 32, 32),
    FragmentLayout("wgmma", 64, 256, 64, 256),
    FragmentLayout("wgmma", 128, 128, 64, 64),
    FragmentLayout("wgmma", 128, 96, 128, 96),
]
each_fragments = pytest.mark.parametrize("layout", FRAGMENTS, ids=str)


@each_fragments
def test_every_accumulator_is_in_one_register(layout):
    assert layout.misfit is None
    places = [
        layout.place(thread, register) for thread in range(layout.threads) for register in range(layout.registers)
    ]
    assert sorted(places) == list(itertools.product(range(layout.rows), range(layout.columns)))


@each_fragments
def test_a_piece_is_what_mma_gives(layout):
    # PTX ISA, m16n8k16: the accumulators d0 … d3 of a lane; a warp of a wgmma has those of its 16 rows.
    held = mma_fragments(MatrixShape(16, 8, 16), 16).d.position
    for warp in range(layout.threads // WARP_LANES):
        first = layout.start(warp)
        for number, piece in enumerate(layout.pieces()):
            expected = np.stack(np.divmod(held, 8), -1) + np.array(first) + np.array(piece)
            found = [
                [layout.place(warp * WARP_LANES + lane, 4 * number + register) for register in range(4)]
                for lane in range(WARP_LANES)
            ]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (FragmentLayout("mma", 64, 64, 24, 8), "has 24x8 for each mma, which pieces of 16x8 do not divide"),
        (FragmentLayout("wgmma", 64, 64, 32, 64), "has 32x64 for each wgmma, which pieces of 64x8 do not divide"),
        (FragmentLayout("mma", 64, 64, 48, 64), "is 64x64, which 48x64 for each mma do not divide"),
    ],
)
def test_fragments_that_no_unit_has(layout, message):
    assert layout.misfit == message


each_factors = pytest.mark.parametrize(
    "layout", [FactorLayout(64, 1), FactorLayout(128, 2), FactorLayout(64, 4)], ids=str
)


@each_factors
def test_every_factor_is_in_one_register(layout):
    registers = range(layout.words * layout.word_elements)
    places = [layout.place(thread, register) for thread in range(WARPGROUP_THREADS) for register in registers]
    assert sorted(places) == list(itertools.product(range(layout.rows), range(layout.columns)))


@each_factors
def test_factors_of_a_warp_are_those_of_mma(layout):
    held = mma_fragments(MatrixShape(16, 8, layout.columns), 32 // layout.word_elements).a.position
    registers = held.shape[1]
    for warp, block in itertools.product(range(4), range(layout.words // 4)):
        first = np.array([64 * block + 16 * warp, 0])
        found = [
            [layout.place(WARP_LANES * warp + lane, registers * block + register) for register in range(registers)]
            for lane in range(WARP_LANES)
        ]
        np.testing.assert_array_equal(found, np.stack(np.divmod(held, layout.columns), -1) + first)


def test_accumulators_are_factors_of_the_next_product():
    accumulators, factors = FragmentLayout("wgmma", 128, 16, 128, 16), FactorLayout(128, 2)
    for thread, register in itertools.product(range(WARPGROUP_THREADS), range(16)):
        assert factors.place(thread, register) == accumulators.place(thread, register)
