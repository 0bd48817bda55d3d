"""docs/onnx.md says what there is: each op type that has a handler, in one row, and no other; the recorded numbers."""

import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import tinyc.importers.onnx.handlers as handlers
from tinyc.importers.onnx.handlers.registry import HANDLERS_BY_TYPE

_ROOT = Path(__file__).parents[3]
_PAGE = (_ROOT / "docs" / "onnx.md").read_text(encoding="utf-8")


def documented():
    table = _PAGE.partition("| family | op types |\n|---|---|\n")[2].partition("\n\n")[0]
    return Counter(re.findall(r"`(\w+)`", table))


def test_each_op_type_with_a_handler_stands_in_the_table_and_no_other():
    assert documented() == Counter(dict.fromkeys(HANDLERS_BY_TYPE, 1))


def test_an_op_type_has_one_handler():
    modules = [
        importlib.import_module(f"{handlers.__name__}.{each.name}") for each in pkgutil.iter_modules(handlers.__path__)
    ]
    written = [op_type for each in modules for op_type in getattr(each, "HANDLERS", ())]
    assert sorted(written) == sorted(HANDLERS_BY_TYPE)


def test_the_page_has_the_recorded_numbers_of_conformance():
    *_, last = (_ROOT / "bench" / "results" / "onnx_conformance.txt").read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"\d+ passed, 0 failed, \d+ out of scope", last)
    assert f"\n{last}\n" in _PAGE
