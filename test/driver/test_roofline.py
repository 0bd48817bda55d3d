"""The share of the peak that a region has reached, of arithmetic or of memory, where the peak is made up."""

from pathlib import Path

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from tinyc.driver import machine_peak
from tinyc.driver.profile import LOG_COLUMNS, LaunchTimes, launches_of_regions, profile_rows
from tinyc.driver.roofline import MachinePeak, peak_shares
from tinyc.vocabulary.element_type import ElementType

SOFTMAX = Path(__file__).parents[2] / "examples" / "softmax.json"
#: 100 operations a second, and 10 bytes of copies or 20 of reads; a cache of 50 bytes.
PEAK = MachinePeak(lambda kind: 100.0, lambda: (10.0, 20.0), 50)
KINDS = {
    ElementType.F64: 50.0,
    ElementType.F32: 100.0,
    ElementType.BF16: 200.0,
    ElementType.I32: 200.0,
    ElementType.I8: 400.0,
}


@pytest.mark.parametrize(
    ("flops", "moved", "reads_alone", "expected"),
    [
        (63, 1, False, "63% arithmetic"),
        (63, 9, False, "90% memory"),
        (63, 10, True, "63% arithmetic"),
        (7, 30, False, "7% arithmetic, in caches"),  # three times of what memory gives
        (7, 60, False, "600% memory"),  # which no cache holds
        (0, 0, False, "0% arithmetic"),
    ],
)
def test_the_nearer_limit_counts(flops, moved, reads_alone, expected):
    assert PEAK.share(flops, moved, 1.0, ElementType.F32, reads_alone) == expected


def product_of(left: str, right: str, result: str):
    inputs = [tensor(name, 64, dtype=dtype) for name, dtype in (("x", left), ("y", right))]
    wide = [node(f"{name}c", "CAST", name, to=result) for name in "xy"]
    return program(*inputs, *wide, node("z", "MUL", "xc", "yc"))


@pytest.mark.parametrize(
    ("given", "computed", "kind"),
    [
        ("fp32", "fp32", ElementType.F32),
        ("bf16", "bf16", ElementType.BF16),
        ("bf16", "fp32", ElementType.BF16),
        ("fp32", "bf16", ElementType.F32),
        ("fp16", "fp16", ElementType.F32),
        ("fp64", "fp64", ElementType.F64),
        ("i8", "i32", ElementType.I8),
        ("i32", "i32", ElementType.I32),
        ("i8", "fp32", ElementType.F32),
    ],
)
def test_the_peak_is_that_of_what_a_region_computes_in(monkeypatch, given, computed, kind):
    asked = []

    def operations(of_kind):
        asked.append(of_kind)
        return KINDS[of_kind]

    monkeypatch.setattr(machine_peak, "machine_peak", lambda threads: MachinePeak(operations, PEAK.bandwidths, 0))
    ones = np.ones(64, next(each.dtype for each in ElementType if each.json_name == given))
    profile = tinyc.compile(product_of(given, given, computed)).profile(x=ones, y=ones)
    assert asked == [kind] * len(profile.rows)
    assert all(each.endswith((" memory", " arithmetic")) for each in profile.shares)


def test_a_region_that_only_reads_is_compared_with_reads():
    executor = tinyc.compile(SOFTMAX, fusion="none")._executor
    times = LaunchTimes()
    executor.timed({"X": np.ones((4, 96), np.float32)}, lambda bound, launch, _: times.note(bound, launch, 1e-3), None)
    told = {"FLOPs": 0, "bytes": 6, "actual_us": 1e6}
    rows = [[told.get(name, "") for name in LOG_COLUMNS]] * len(launches_of_regions(times))
    maximum, difference, *_ = peak_shares(times, rows, PEAK)
    assert (maximum, difference) == ("30% memory", "60% memory")


def test_what_has_no_prediction_has_no_share_and_nothing_is_measured(tmp_path):
    def measured(*_):
        pytest.fail("the peak was measured")

    times = LaunchTimes()
    tinyc.compile(SOFTMAX).save(tmp_path / "model.tinyc")
    model = tinyc.load(tmp_path / "model.tinyc")
    model._executor.timed({"X": np.ones((4, 96), np.float32)}, times.note, None)
    rows = tuple(profile_rows(times, ("cpu", ""), model._predicted))
    assert [*peak_shares(times, rows, MachinePeak(measured, measured, 0))] == [""]


def test_the_table_has_shares_where_the_machine_runs_the_program(monkeypatch):
    monkeypatch.setattr(machine_peak, "machine_peak", lambda threads: PEAK)
    x = np.ones((4, 96), np.float32)
    profile = tinyc.compile(SOFTMAX).profile(X=x)
    (row,) = profile.table.rows
    assert row[profile.table.columns.index("of peak")] == profile.shares[0] != ""
    assert "of peak" not in tinyc.compile(SOFTMAX, target="sim").profile(X=x).table.columns
