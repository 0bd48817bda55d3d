"""docs/onnx.md says what there is: each op type that has a handler, in one row, and no other; the recorded numbers."""

import re
from collections import Counter
from pathlib import Path

from tinyc.importers.onnx.handlers.registry import HANDLERS_BY_TYPE

_ROOT = Path(__file__).parents[3]
_PAGE = (_ROOT / "docs" / "onnx.md").read_text(encoding="utf-8")


def documented():
    table = _PAGE.partition("| family | op types |\n|---|---|\n")[2].partition("\n\n")[0]
    return Counter(re.findall(r"`(\w+)`", table))


def test_each_op_type_with_a_handler_stands_in_the_table_and_no_other():
    assert documented() == Counter(dict.fromkeys(HANDLERS_BY_TYPE, 1))


def test_the_page_has_the_recorded_numbers_of_conformance():
    *_, last = (_ROOT / "bench" / "results" / "onnx_conformance.txt").read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"\d+ passed, 0 failed, \d+ out of scope", last)
    assert f"\n{last}\n" in _PAGE
