"""What a round of clusters asks for: lines of a small product counted by hand."""

import numpy as np

from ptxsim.clock.memory.l2 import L2Shape
from ptxsim.clock.memory.offsets import ClusterOffsets
from ptxsim.clock.memory.requests import ClusterRequests, StepRequests
from ptxsim.clock.memory.rounds import Round

#: One partition, for sums over all SMs.
WHOLE = L2Shape(2**20, 1, 4)


def product(rows, columns):
    """Tiles of a product: rows of A are 4 chunks apart, columns of B 2; tiles of a row follow each other."""
    at = np.arange(rows * columns)
    offsets = {0: at // columns * 4 * 64, 1: at % columns * 2 * 64}
    ranges = (0, rows * 4 * 64), (4096, 4096 + columns * 2 * 64), (8192, 16384)
    return ClusterOffsets(ranges, at, offsets, rows * columns)


def step_of_tile():
    """A tile reads 4 chunks of A and 2 of B, both sectors of each, and of a third array one chunk of its own."""
    both = [StepRequests(number, np.arange(size), np.full(size, 2)) for number, size in ((0, 4), (1, 2))]
    own = StepRequests(2, np.arange(1), np.full(1, 1))
    return ClusterRequests(7 * 64, ((*both, own),), ((StepRequests(2, np.arange(3), np.full(3, 2)),),), 7 * 64, 3 * 64)


def test_a_round_of_a_product_asks_for_each_row_and_column_once():
    step = Round(WHOLE, 132, 1, step_of_tile(), product(3, 5), range(15)).step(0)
    assert step.chunks.tolist() == list(range(3 * 4 + 5 * 2))
    # a row is read by the 5 tiles in it, a column by 3
    assert step.requests[0].tolist() == [5] * 12 + [3] * 10
    assert set(step.sector_bytes.tolist()) == {64}
    assert (step.own_read, step.own_written) == (15 * 32, 15 * 3 * 64)


def test_of_a_part_of_the_product_only_its_rows_and_columns():
    step = Round(WHOLE, 132, 1, step_of_tile(), product(3, 5), range(5, 8)).step(0)
    assert step.chunks.tolist() == [4, 5, 6, 7, 12, 13, 14, 15, 16, 17]
    assert step.requests[0].tolist() == [3] * 4 + [1] * 6


def test_what_lies_behind_the_end_of_an_array_comes_in_at_its_beginning():
    offsets = product(3, 5)
    offsets.offsets[0][:] = 10 * 64  # of 12 chunks
    step = Round(WHOLE, 132, 1, step_of_tile(), offsets, range(1)).step(0)
    assert step.chunks.tolist() == [0, 1, 10, 11, 12, 13]


def test_clusters_of_one_step_that_overlap_ask_for_a_chunk_together():
    offsets = product(3, 5)
    offsets.offsets[0][:2] = 0, 2 * 64
    step = Round(WHOLE, 132, 1, step_of_tile(), offsets, range(2)).step(0)
    assert step.chunks[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert step.requests[0][:6].tolist() == [1, 1, 2, 2, 1, 1]


def test_requests_are_told_apart_by_the_partition_of_their_sm():
    shape = L2Shape(2**20, 2, 8)
    step = Round(shape, 132, 1, step_of_tile(), product(1, 8), range(8)).step(0)
    of_sm = [shape.partition_of(sm) for sm in range(8)]
    assert step.requests[1].tolist() == [sum(of_sm)] * 4 + [each for each in of_sm for _ in range(2)]
    assert step.requests.sum() == 8 * 6
