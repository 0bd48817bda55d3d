"""A chain of movements at the limit of one access is read through; over it, a value on the way is copied."""

import numpy as np
import pytest

import tinyc
from tinyc.diagnostics import TinycError, Where, collect_remarks


def program(*movements):
    """Return y = -x through movements, each a uop and its argument."""
    uops = [{"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M"]}}]
    for number, (uop, arg) in enumerate(movements):
        uops.append({"id": f"v{number}", "uop": uop, "src": [uops[-1]["id"]], "arg": arg})
    return {"uops": [*uops, {"id": "y", "uop": "NEG", "src": [uops[-1]["id"]]}]}


@pytest.mark.parametrize(("count", "cuts"), [(16, []), (17, ["v0"]), (40, ["v7", "v23"])])
@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_a_chain_over_the_limit_is_cut_with_a_remark_and_computes_the_same(count, cuts, target):
    chain = program(*(("PAD", {"pad": [[1, 0]], "value": number}) for number in range(count)))
    with collect_remarks() as remarks:
        model = tinyc.compile(chain, target=target)
    if target == "cpu":
        assert repr(model).count("copy") == len(cuts)
        ends = [each for each in remarks if each.code == "region-boundary"]
        assert [each.where.node for each in ends] == cuts
        counts = "is over a limit: pad guards 17 of 16, pieces 18 of 32"
        assert all(f"the access through '{each.where.node}' {counts}" in each.message for each in ends)
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(model(x), -np.concatenate([np.arange(count)[::-1], x]))


def test_one_movement_over_the_limit_is_an_error_since_there_is_nothing_to_cut():
    with pytest.raises(TinycError) as caught:
        tinyc.compile(program(("SHRINK", {"lo": [0], "hi": ["M"], "step": [2**62]})))
    assert (caught.value.name, caught.value.where) == ("ExcessivePiecewise", Where("v0"))
    counts = f"greatest number {2**62} of {2**62 - 1}"
    assert caught.value.message == (
        f"'tiny.shrink' alone is too much for one access map: {counts}; write it as several movements"
    )
