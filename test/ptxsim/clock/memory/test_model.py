"""From a cluster's requests to what memory gives: totals by hand, the order of tiles, rounds, a kernel that runs."""

from dataclasses import replace

import numpy as np
import pytest

import ptxsim
from ptxsim.clock.devices import Figure, device_of
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.memory.model import memory_model_of, model_of_requests, record_round
from ptxsim.clock.memory.offsets import ClusterOffsets
from ptxsim.clock.memory.requests import ClusterRequests, StepRequests
from ptxsim_cases.kernel_text import OWN_WORD, kernel
from ptxsim_cases.recordings import recording_of

H100 = device_of("h100")
#: A product of 4096³ of two-byte numbers: rows of 8192 bytes, 128 chunks; tiles of 128 × 256, steps of 64 along K.
_ROW, _STEPS = 128, 8


def boxes(array, rows, step):
    """The chunks of a box: 128 bytes of each row."""
    chunks = (np.arange(rows)[:, None] * _ROW + 2 * step + np.arange(2)).reshape(-1)
    return StepRequests(array, chunks, np.full(len(chunks), 2))


def tile():
    """The first steps of a tile, which stores nothing."""
    reads = tuple((boxes(0, 128, step), boxes(1, 256, step)) for step in range(_STEPS))
    size = 384 * 128
    return ClusterRequests(size, reads, ((),) * _STEPS, size * _STEPS, 0)


def tiles_at(rows, columns):
    """CTAs at these tiles of the product."""
    offsets = {0: np.array(rows) * 128 * _ROW * 64, 1: np.array(columns) * 256 * _ROW * 64}
    size = 4096 * _ROW * 64
    return ClusterOffsets(((0, size), (size, 2 * size)), np.arange(len(rows)), offsets, len(rows))


CTA = np.arange(128)
#: fast.cu's orders: blocks of 16 × 8 tiles, and four tiles of a row for each CTA.
BLOCKS, ROWS = (CTA // 8, CTA % 8), (CTA // 4, 4 * (CTA % 4))


def model_of_order(order, **options):
    return model_of_requests(tile(), tiles_at(*order), H100, 128, 128, **options)


def test_a_round_of_blocks_of_tiles_hits_as_often_as_was_measured():
    model = model_of_order(BLOCKS, warm=False)
    unique = (16 * 128 + 8 * 256) * 128 * _STEPS
    assert model.requested_bytes == 128 * 384 * 128 * _STEPS
    assert model.hbm_read_bytes == unique
    # fast.cu's author: 83 %. Each partition keeps a copy of every line, as both have CTAs in every row and column.
    assert model.hit_share == pytest.approx(1 - 2 * unique / model.requested_bytes)
    assert model.hit_share == pytest.approx(0.83, abs=0.005)


def test_rows_of_tiles_read_more_and_load_slices_less_evenly():
    blocks, rows = model_of_order(BLOCKS, warm=False), model_of_order(ROWS, warm=False)
    assert rows.hbm_read_bytes / blocks.hbm_read_bytes == (32 * 128 + 4 * 256) / (16 * 128 + 8 * 256)
    assert rows.imbalance > blocks.imbalance > 1
    assert rows.cycles > blocks.cycles
    assert rows.hit_share < blocks.hit_share


def test_operands_that_fit_are_there_when_a_launch_is_repeated():
    cold, warm = model_of_order(BLOCKS, warm=False), model_of_order(BLOCKS)
    assert (warm.hbm_read_bytes, warm.hit_share) == (0, 1)
    assert {step.near_share for step in warm.steps} == {1.0}
    once = (16 * 128 + 8 * 256) / (128 * 384)
    # one waits for all of a line's way, the others, who ask while it comes, for half of it
    assert all(step.memory_share == pytest.approx(once + (1 - once) / 2) for step in cold.steps)


def test_rates_are_an_sms_share_of_the_chip():
    model = model_of_order(BLOCKS, warm=False)
    step = model.at(0)
    assert step.hbm_bytes_per_cycle == pytest.approx(H100.memory_bytes_per_cycle / 128)
    assert step.l2_bytes_per_cycle == H100.l2_bytes_per_cycle / 128
    assert step.hbm_share == pytest.approx((16 * 128 + 8 * 256) / (128 * 384))
    assert model.at(1.5 * 384 * 128) is model.steps[1]
    assert model.at(1e12) is model.steps[-1]


def test_what_a_round_has_brought_in_is_there_for_the_next_one():
    # 4 rounds of 16 × 8 tiles: the first two have their rows in common, as the others are taken to have
    rows = np.concatenate([CTA // 8, CTA // 8])
    columns = np.concatenate([CTA % 8, CTA % 8 + 8])
    model = model_of_requests(tile(), tiles_at(rows, columns), H100, 128, 512, warm=False, drift=0)
    row_bytes, column_bytes = 16 * 128 * 128 * _STEPS, 8 * 256 * 128 * _STEPS
    assert model.rounds == 4
    assert model.hbm_read_bytes == row_bytes + 4 * column_bytes
    assert model.requested_bytes == 4 * 128 * 384 * 128 * _STEPS


@pytest.mark.parametrize("warm", [False, True])
def test_a_kernel_that_reads_each_word_once(warm):
    body = f"{OWN_WORD} mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 128; add.u64 %d0, %d0, %d2;"
    text = kernel(body + "ld.global.u32 %r2, [%d0]; add.u32 %r2, %r2, 1; st.global.u32 [%d0], %r2; ret;")
    words, grid = np.zeros(32 * 64, np.uint32), (64, 1, 1)
    each_round = record_round(ptxsim.load(text), KernelLaunch(text, "k", grid, (32, 1, 1), [words]), 132)
    model = memory_model_of(each_round.recording, each_round.offsets, H100, 132, warm)
    assert model.requested_bytes == model.hbm_written_bytes == words.nbytes
    assert model.hbm_read_bytes == (0 if warm else words.nbytes)
    assert model.rounds == 1
    assert model.is_exact


def test_the_first_cluster_is_recorded_as_if_it_were_alone():
    text = kernel(f"{OWN_WORD} bar.sync 0; ld.global.u32 %r2, [%d0]; bar.sync 0; st.global.u32 [%d0], %r2; ret;")
    launch = KernelLaunch(text, "k", (8, 1, 1), (64, 1, 1), [np.zeros(64, np.uint32)])
    each_round = record_round(ptxsim.load(text), launch, 132)
    alone = recording_of(text, [np.zeros(64, np.uint32)], 64, grid=(8, 1, 1), clusters=[0])
    assert [repr(each) for each in each_round.recording.warps] == [repr(each) for each in alone.warps]
    assert each_round.recording.cluster_ctas == {0: (0,)}
    assert each_round.offsets.ran == 8
    assert each_round.report.ok


def test_of_many_rounds_those_after_the_first_may_drift_apart():
    rows, columns = np.concatenate([CTA // 8, CTA // 8]), np.concatenate([CTA % 8, CTA % 8 + 8])
    small = replace(H100, l2_bytes=Figure(2**20, "bytes", "assumed", "half of it is one step of a round"))
    in_step, apart = (
        model_of_requests(tile(), tiles_at(rows, columns), small, 128, 128 * 64, warm=False, drift=drift)
        for drift in (0, 0.05)
    )
    assert apart.requested_bytes == pytest.approx(in_step.requested_bytes)
    assert apart.hbm_read_bytes > 1.5 * in_step.hbm_read_bytes
    assert apart.hit_share < in_step.hit_share
