"""The addresses of tensor copies, against loops over the indices on arrays of distinct values (PTX ISA §5.5)."""

import itertools

import numpy as np
import pytest

from ptxsim.copies.tensor_boxes import box_of
from ptxsim.machine.misuse import Misuse
from ptxsim.tensor_maps.swizzle import swizzled_addresses, swizzled_bytes
from ptxsim.tensor_maps.tensor_map import TensorMap
from ptxsim_cases.tensor_maps import im2col, tiled

POISON = 0xA5
SHARED = 1024


def distinct(*shape, dtype=np.float32):
    """An array of distinct values, none of them zero."""
    return (np.arange(np.prod(shape)) + 1).astype(dtype).reshape(shape)


def memory_of(array):
    """Global memory with an array's bytes between others, as long as words need it, and where they begin."""
    contents = array.reshape(-1).view(np.uint8)
    memory = np.full(-(-contents.size // 64) * 64 + 128, POISON, np.uint8)
    memory[64 : 64 + contents.size] = contents
    return memory, 64


def block(box, array, count):
    """The box's elements after a load without swizzle."""
    assert box.byte_count == count * array.itemsize
    return box.read(*memory_of(array)).view(array.dtype)


# One to five dimensions, over the edge on every side: every element by its coordinates, zeros elsewhere.
@pytest.mark.parametrize("start", [0, -1, 3])
@pytest.mark.parametrize("rank", range(1, 6))
def test_a_tiled_load_keeps_the_shape_and_fills_with_zeros(rank, start):
    array = distinct(*(5, 3, 4, 6, 8)[-rank:])
    extents = (4, 3, 2, 3, 2)[:rank]
    found = box_of(tiled(array, extents), (start,) * rank, SHARED)
    values = block(found, array, int(np.prod(extents)))
    expected = []
    for index in itertools.product(*(range(extent) for extent in reversed(extents))):
        place = tuple(start + offset for offset in index)
        inside = all(0 <= at < size for at, size in zip(place, array.shape, strict=True))
        expected.append(array[place] if inside else 0)
    assert values.tolist() == expected
    assert found.byte_count == 4 * len(expected)


# Coordinates far outside leave nothing in bounds, and count all the same.
def test_a_box_outside_of_the_tensor_is_all_fill_and_counts_in_full():
    array = distinct(8, 16)
    found = box_of(tiled(array, (4, 4)), (-(2**31), 2**31 - 1), SHARED)
    assert found.in_bounds(np.zeros(64, np.uint8)).size == 0
    assert found.byte_count == 64
    assert (block(found, array, 16) == 0).all()


def test_out_of_bounds_may_be_nan():
    array = distinct(4, 8, dtype=np.float16)
    found = box_of(tiled(array, (8, 2), oob_fill="nan_request_zero_fma"), (0, 3), SHARED)
    values = block(found, array, 16)
    assert values[:8].tolist() == array[3].tolist()
    assert np.isnan(values[8:]).all()


# With traversal strides, elements are skipped in global memory and lie densely in shared memory.
def test_a_traversal_stride_skips_elements_of_the_tensor():
    array = distinct(9, 7, 4)
    found = box_of(tiled(array, (4, 5, 4), (1, 2, 3)), (0, 1, 2), SHARED)
    rows = [array[z, y] for z in (2, 5) for y in (1, 3, 5)]
    assert block(found, array, 24).reshape(6, 4).tolist() == np.stack(rows).tolist()


# Strides are the map's, not the array's: a padded row, and a tensor that lies in part of an array.
def test_global_strides_are_those_of_the_map():
    array = distinct(6, 12)
    tensor = TensorMap.tiled(2, array, (5, 3), (96,), (4, 3), (1, 1))
    values = block(box_of(tensor, (2, 0), SHARED), array, 12).reshape(3, 4)
    assert values.tolist() == [[*array[2 * row, 2:5], 0] for row in range(3)]


# The swizzles of the documentation: 16-byte chunk x of the 128-byte line y goes to chunk (y mod chunks of a span) ^ x.
@pytest.mark.parametrize(("swizzle", "span"), [("32B", 32), ("64B", 64), ("128B", 128)])
@pytest.mark.parametrize("base", [0, 128, 640])
def test_a_swizzle_exchanges_the_chunks_of_a_span(swizzle, span, base):
    flat = np.arange(64 * span // 2, dtype=np.uint16).view(np.uint8)
    shared = np.full(base + flat.size, POISON, np.uint8)
    shared[base:] = swizzled_bytes(flat, base, swizzle)
    chunks = span // 16
    for chunk in range(64 * chunks):
        address = base + 16 * chunk
        line, place = divmod(address, 128)
        outer, inner = divmod(place // 16, chunks)
        to = line * 128 + (outer * chunks + (inner ^ (line % chunks))) * 16
        assert shared[to : to + 16].tolist() == flat[16 * chunk : 16 * chunk + 16].tolist()


# The picture of the 128-byte swizzle: rows of eight chunks, each a permutation of the first.
def test_the_128_byte_swizzle_is_that_of_the_documentation():
    chunks = swizzled_addresses(np.arange(64, dtype=np.int64) * 16, "128B").reshape(8, 8) // 16 % 8
    assert chunks.tolist() == [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [1, 0, 3, 2, 5, 4, 7, 6],
        [2, 3, 0, 1, 6, 7, 4, 5],
        [3, 2, 1, 0, 7, 6, 5, 4],
        [4, 5, 6, 7, 0, 1, 2, 3],
        [5, 4, 7, 6, 1, 0, 3, 2],
        [6, 7, 4, 5, 2, 3, 0, 1],
        [7, 6, 5, 4, 3, 2, 1, 0],
    ]


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_a_swizzle_is_its_own_inverse(swizzle):
    addresses = np.arange(4096, dtype=np.int64)
    assert (swizzled_addresses(swizzled_addresses(addresses, swizzle), swizzle) == addresses).all()


# A store writes what a load read, and nothing out of bounds.
def test_a_store_undoes_a_load_and_leaves_the_rest():
    array = distinct(20, 64, dtype=np.float16)
    found = box_of(tiled(array, (64, 8)), (16, 17), SHARED)
    stored, start = memory_of(np.full_like(array, 7))
    found.write(stored, start, found.read(*memory_of(array)))
    expected = np.full_like(array, 7)
    expected[17:, 16:] = array[17:, 16:]
    assert (stored == memory_of(expected)[0]).all()


def column(array, lower, upper, channels, pixels, coordinates, offsets, strides):
    """A column of pixels by going through the filter bases one by one, W first, then H, D and N."""
    spatial = array.ndim - 2
    sizes = array.shape[-2:0:-1]
    base, image = list(coordinates[1:-1]), coordinates[-1]
    result = []
    for _ in range(pixels):
        place = [at + offset for at, offset in zip(base, offsets, strict=True)]
        for channel in range(coordinates[0], coordinates[0] + channels):
            index = (image, *reversed(place), channel)
            inside = all(0 <= at < size for at, size in zip(index, array.shape, strict=True))
            result.append(array[index] if inside else 0)
        for axis in range(spatial):
            base[axis] += strides[axis]
            if base[axis] <= sizes[axis] - 1 + upper[axis]:
                break
            base[axis] = lower[axis]
        else:
            image += 1
    return result


IM2COL_CASES = [
    # 3-D (N, W, C): no padding, then a filter of 3 with padding 1 at its second position, into the next images.
    ((3, 7, 8), (0,), (0,), 8, 12, (0, 0, 0), (0,), (1,)),
    ((3, 7, 8), (-1,), (-1,), 4, 20, (4, 3, 1), (1,), (1,)),
    # 4-D (N, H, W, C): 3 x 3 with padding 1, from the middle of a row, beyond the last image.
    ((2, 5, 6, 16), (-1, -1), (-1, -1), 16, 64, (0, 2, 3, 1), (2, 0), (1, 1)),
    # Without padding: a box smaller than the image; channels beyond the last.
    ((2, 5, 6, 12), (0, 0), (-2, -2), 8, 30, (8, 3, 1, 0), (2, 2), (1, 1)),
    # Strides 2 and 3.
    ((3, 9, 8, 4), (-1, -1), (-1, -1), 4, 40, (0, 1, 2, 0), (1, 2), (2, 3)),
    # 5-D (N, D, H, W, C).
    ((2, 3, 4, 5, 4), (-1, 0, -1), (-1, -1, 0), 4, 100, (0, 2, 1, 0, 0), (1, 1, 0), (1, 2, 1)),
]


@pytest.mark.parametrize(("shape", "lower", "upper", "channels", "pixels", "start", "offsets", "strides"), IM2COL_CASES)
def test_an_im2col_load_goes_through_the_pixel_box(shape, lower, upper, channels, pixels, start, offsets, strides):
    array = distinct(*shape)
    tensor = im2col(array, lower, upper, channels, pixels, (1, *strides, 1))
    found = box_of(tensor, start, SHARED, offsets)
    expected = column(array, lower, upper, channels, pixels, start, offsets, strides)
    assert block(found, array, pixels * channels).tolist() == expected
    assert found.byte_count == 4 * pixels * channels


# A convolution of one channel block: each im2col load of a filter position is that position's operand of the GEMM.
def test_im2col_loads_are_the_operand_of_a_convolution():
    array = distinct(2, 4, 5, 4)
    padded = np.pad(array, ((0, 0), (1, 1), (1, 1), (0, 0)))
    tensor = im2col(array, (-1, -1), (-1, -1), 4, 2 * 4 * 5)
    for r, s in itertools.product(range(3), range(3)):
        found = box_of(tensor, (0, -1, -1, 0), SHARED, (s, r))
        expected = padded[:, r : r + 4, s : s + 5].reshape(-1)
        assert block(found, array, expected.size).tolist() == expected.tolist()


def test_a_store_in_im2col_mode_has_no_offsets():
    array = distinct(2, 4, 5, 4)
    tensor = im2col(array, (0, 0), (0, 0), 4, 6)
    without, with_zeros = box_of(tensor, (0, 3, 1, 0), SHARED, ()), box_of(tensor, (0, 3, 1, 0), SHARED, (0, 0))
    assert without.rows.tolist() == with_zeros.rows.tolist()


TILED_MAP = tiled(distinct(8, 16), (4, 4))
IM2COL_MAP = im2col(distinct(2, 4, 5, 4), (-1, -1), (-1, -1), 4, 6)
MISUSES = [
    ((TILED_MAP, (0, 0), 1040), "misaligned", "shared memory address 0x410 is not a multiple of 128 bytes"),
    ((TILED_MAP, (0,), SHARED), "out-of-bounds", "a copy with 1 coordinates of a tensor map of rank 2"),
    ((TILED_MAP, (0, 0), SHARED, ()), "out-of-bounds", "a copy in mode .im2col of a tiled tensor map"),
    ((IM2COL_MAP, (0, 0, 0, 0), SHARED), "out-of-bounds", "a copy in mode .tile of an im2col tensor map"),
    (
        (IM2COL_MAP, (0, -2, 0, 0), SHARED, (0, 0)),
        "out-of-bounds",
        "coordinate -2 of W is not in the pixel box, -1 … 3",
    ),
    ((IM2COL_MAP, (0, 0, 3, 0), SHARED, (0, 0)), "out-of-bounds", "coordinate 3 of H is not in the pixel box, -1 … 2"),
    ((IM2COL_MAP, (0, 0, 0, 0), SHARED, (0,)), "out-of-bounds", "im2col offsets (0,) are not 2 within 0 … 255"),
    ((IM2COL_MAP, (0, 0, 0, 0), SHARED, (0, 256)), "out-of-bounds", "im2col offsets (0, 256) are not 2 within 0 … 255"),
]


@pytest.mark.parametrize(("operands", "kind", "message"), MISUSES, ids=[message for *_, message in MISUSES])
def test_misuse_is_raised(operands, kind, message):
    with pytest.raises(Misuse) as raised:
        box_of(*operands)
    assert raised.value.kind == kind
    assert message in raised.value.message
