"""`docs/clock.md` has the numbers of the devices' tables, and those that `bench/clock.py` has recorded."""

import re
from pathlib import Path

import pytest

from ptxsim.clock.devices import DEVICES

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "clock.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "bench" / "results" / "clock.txt").read_text(encoding="utf-8")


def table(head):
    """The cells of the table in the document that begins with a head."""
    _, found, rest = TEXT.partition(f"{head}\n")
    assert found, head
    rows = rest.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


DEVICE_HEAD = next(line for line in TEXT.splitlines() if line.startswith("| number | a100"))


def test_the_table_has_every_device():
    columns = [cell.strip() for cell in DEVICE_HEAD.strip("|").split("|")]
    assert columns == ["number", *DEVICES, "unit", "known"]


@pytest.mark.parametrize("row", table(DEVICE_HEAD), ids=lambda row: row[0].strip("`"))
def test_a_row_has_the_numbers_of_the_devices(row):
    figures = [device.figures[row[0].strip("`")] for device in DEVICES.values()]
    standings = [each.standing for each in figures]
    known = standings[0] if len(set(standings)) == 1 else ", ".join(standings)
    expected = [row[0], *(f"{float(each):.6g}" for each in figures), figures[0].unit, known]
    assert row == expected, f"the row is now\n| {' | '.join(expected)} |"


def test_what_is_fitted_is_told_and_on_what():
    fitted = {}
    for device in DEVICES.values():
        for name, figure in device.figures.items():
            if figure.standing == "fitted":
                fitted.setdefault((f"`{name}`", figure.source), []).append(device.name)
    rows = [[name, ", ".join(devices), source] for (name, source), devices in fitted.items()]
    assert sorted(table("| number | of | fitted on |")) == sorted(rows)


def recorded():
    """The bounds in the bench's results: [set, what, measured, bound, kept]."""
    for name, rows in re.findall(r"^(.+): predicted beside published, .*\n.*\n((?:.+\n?)*)", RESULTS, re.MULTILINE):
        for row in rows.splitlines():
            yield [name, *re.split(r"  +", row.strip())]


def test_what_was_measured_is_what_the_bench_has_recorded():
    expected = [row for row in recorded() if len(row) == 5]
    assert expected
    lines = "\n".join(f"| {' | '.join(row)} |" for row in expected)
    assert table("| set | what | measured | bound | kept |") == expected, f"the rows are now\n{lines}"
