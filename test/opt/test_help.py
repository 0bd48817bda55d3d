"""The pages of the help on MLIR's passes, also with bindings whose library keeps its list of passes to itself."""

import pytest

from tinyc.diagnostics import TinycError
from tinyc.mlir import pass_help
from tinyc.opt.help import describe_pass, list_passes


@pytest.fixture
def silent(monkeypatch):
    """Have a library that exports no list of passes."""
    monkeypatch.setattr(
        pass_help, "_PRINTER", "from tinyc.mlir import pass_help as p; p._PRINT = 'none'; p.print_registered()"
    )
    pass_help.upstream_passes.cache_clear()
    yield
    pass_help.upstream_passes.cache_clear()


def test_every_option_of_a_pass_stands_on_its_page_with_its_default():
    page = describe_pass("affine-loop-fusion", ())
    assert page.startswith(
        "--affine-loop-fusion\n  Fuse affine loop nests\n  (MLIR's own, in the words of the bindings, "
    )
    assert "\n  maximal=…: Enables maximal loop fusion [false]\n" in page
    assert "\n  mode=…: fusion mode to attempt [greedy]\n    greedy: " in page


def test_without_the_list_a_page_has_the_options_that_the_bindings_print(silent):
    page = describe_pass("canonicalize", ())
    assert "the bindings, " in page
    assert "say no more than these options" in page
    assert "\n  max-iterations=… [10]\n" in page


def test_without_the_list_the_help_has_tinycs_passes_and_unknown_names_are_refused(silent):
    assert "MLIR" not in list_passes(())
    with pytest.raises(TinycError, match="there is no pass 'no-such'; there are none"):
        describe_pass("no-such", ())
