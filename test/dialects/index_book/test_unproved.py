"""What isl does not get to prove of an IndexBook's text is refused, with the reason."""

import pytest

from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.expr.isl import functions
from tinyc.passes.runner import verify_layers

#: A flip, its domain and its map written in another way: `{domain}` and `{row}` say in which.
TABLE = """
func.func @main(%x: tensor<4xf32> {{tiny.name = "x"}}) -> tensor<4xf32> {{
  %0 = "tiny.flip"(%x) {{axes = array<i64: 0>}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"index_book.table"() ({{
  "index_book.entry"() {{value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>}} : () -> ()
  "index_book.entry"() {{value = "y", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : ({domain})>, inputs = ["x"], maps = [affine_map<(d0) -> ({row})>], guards = [], guard_values = [], reduce_axes = array<i64>}} : () -> ()
  omp.terminator
}}) {{function = @main}} : () -> ()
"""  # noqa: E501
DOMAIN, ROW = "d0 >= 0, -d0 + 3 >= 0", "-d0 + 3"
#: The same: a box with a bound that says nothing, and i as two halves.
OTHER_DOMAIN, OTHER_ROW = f"{DOMAIN}, d0 floordiv 3 >= 0", "-(d0 floordiv 2) - (d0 + 1) floordiv 2 + 3"


def parsed(domain: str = DOMAIN, row: str = ROW):
    return text.parse(TABLE.format(domain=domain, row=row))


def test_other_texts_of_the_same_are_taken():
    for module in (parsed(), parsed(domain=OTHER_DOMAIN), parsed(row=OTHER_ROW)):
        verify_layers(module)


def test_what_is_not_proved_is_not_taken(monkeypatch):
    monkeypatch.setattr(functions, "MAX_OPERATIONS", 1)
    verify_layers(parsed())  # no question
    with pytest.raises(TinycError, match=r"the map to x is \[-i0 \+ 3\], not \["):
        verify_layers(parsed(row=OTHER_ROW))
    with pytest.raises(TinycError, match=r"cannot be compared with .*: isl needs more than 1 steps"):
        parsed(domain=OTHER_DOMAIN)
