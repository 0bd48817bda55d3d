"""`ldmatrix`, `stmatrix`, `movmatrix`: which lane addresses which row, and which register gets which elements."""

import numpy as np
import pytest

from ptxsim.matrix.instructions import matrix_operation
from ptxsim.matrix.mma import WarpMma
from ptxsim.matrix.transfer import MatrixTransfer, MatrixTranspose


def transfer(opcode: str, text: str) -> MatrixTransfer:
    operation = matrix_operation(opcode, ("sync", "aligned", *text.split(".")))
    assert isinstance(operation, MatrixTransfer)
    return operation


def distinct_rows(count: int) -> np.ndarray:
    """Rows [2 warps, count, 8, 16] of bytes whose 16-bit elements are 1000 warp + 64 matrix + 8 row + column."""
    warp, matrix, row, column = np.ogrid[:2, :count, :8, :8]
    return (1000 * warp + 64 * matrix + 8 * row + column).astype("<u2").view(np.uint8)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_row_addresses_come_from_eight_lanes_for_each_matrix(count: int) -> None:
    # Threads 0–7 address the rows of the first matrix, 8–15 of the second, and so on.
    expected = [[8 * matrix + row for row in range(8)] for matrix in range(count)]
    assert transfer("ldmatrix", f"m8n8.x{count}.shared.b16").row_lanes.tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_ldmatrix_gives_a_lane_two_neighbours_of_a_row(count: int, transposed: bool) -> None:
    operation = transfer("ldmatrix", f"m8n8.x{count}{'.trans' if transposed else ''}.shared.b16")
    registers = operation.registers(distinct_rows(count))
    assert (registers.shape, registers.dtype) == ((2, 32, count), np.dtype("u4"))
    for warp, lane, matrix in np.ndindex(registers.shape):
        first, second = [
            1000 * warp + 64 * matrix + (8 * column + row if transposed else 8 * row + column)
            for row, column in ((lane // 4, 2 * (lane % 4)), (lane // 4, 2 * (lane % 4) + 1))
        ]
        assert registers[warp, lane, matrix] == second << 16 | first


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_stmatrix_writes_each_element_where_its_lane_says(count: int, transposed: bool) -> None:
    operation = transfer("stmatrix", f"m8n8.x{count}{'.trans' if transposed else ''}.shared.b16")
    warp, lane, matrix = np.ogrid[:2, :32, :count]
    low = 300 * warp + 256 * matrix + 2 * lane
    rows = operation.rows((low | (low + 1) << 16).astype(np.uint32)).view("<u2")
    assert rows.shape == (2, count, 8, 8)
    for warp, matrix, row, column in np.ndindex(rows.shape):
        of_lane, in_lane = (column, row) if transposed else (row, column)
        lane = 4 * of_lane + in_lane // 2
        assert rows[warp, matrix, row, column] == 300 * warp + 256 * matrix + 2 * lane + in_lane % 2


def test_ldmatrix_feeds_mma_with_a_from_rows_and_b_from_transposed_rows() -> None:
    # A [16, 16] and B [16, 8], both row-major in shared memory; A's matrices in the order of its registers.
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-9, 9, shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    quarters = np.stack([a[:8, :8], a[8:, :8], a[:8, 8:], a[8:, 8:]])
    mma = matrix_operation("mma", ("sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32"))
    assert isinstance(mma, WarpMma)
    d = mma.compute(
        transfer("ldmatrix", "m8n8.x4.shared.b16").registers(quarters.view(np.uint8)),
        transfer("ldmatrix", "m8n8.x2.trans.shared.b16").registers(np.stack([b[:8], b[8:]]).view(np.uint8)),
        np.zeros((32, 4), np.uint32),
    ).view(np.float32)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        assert d[lane].tolist() == [*expected[group, 2 * thread :][:2], *expected[group + 8, 2 * thread :][:2]]


def test_movmatrix_transposes_across_lanes() -> None:
    operation = matrix_operation("movmatrix", ("sync", "aligned", "m8n8", "trans", "b16"))
    assert isinstance(operation, MatrixTranspose)
    lane = np.arange(32, dtype=np.uint32)
    elements = operation.transposed(2 * lane | (2 * lane + 1) << 16).view("<u2").reshape(8, 8)
    # Element (row, column) of the source is 8 row + column.
    assert elements.tolist() == [[8 * column + row for column in range(8)] for row in range(8)]


@pytest.mark.parametrize(
    ("text", "space"),
    [("m8n8.x4.shared.b16", "shared"), ("x4.m8n8.shared::cta.b16", "shared"), ("m8n8.x4.b16", None)],
)
def test_the_state_space_may_be_left_out(text: str, space: str | None) -> None:
    assert transfer("ldmatrix", text).space == space
