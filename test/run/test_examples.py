"""The programs of `examples/` at odd sizes, on the CPU against the reference, and what only a whole program shows."""

import numpy as np
import pytest

import tinyc
from programs.example_bindings import BIND, CONV, EXAMPLES, SIZES
from tinyc.driver import cli
from tinyc.driver.listings import LISTINGS, listing_file
from tinyc.opt import main as opt

_FROM_TINY = ("--tiny-to-region", "--region-to-exec", "--region-to-loops")
#: By layer, the passes that go on to loops.
TO_LOOPS = {
    **dict.fromkeys(("tiny", "indexbook", "poly_view"), _FROM_TINY),
    **dict.fromkeys(("region", "plan"), _FROM_TINY[1:]),
}


def test_every_example_is_bound_here():
    assert {path.stem for path in EXAMPLES.glob("*.json")} == set(BIND)


@pytest.mark.parametrize("name", BIND)
def test_every_layer_of_an_example_agrees(name, capsys):
    bind = ",".join(f"{symbol}={size}" for symbol, size in BIND[name].items())
    assert cli.main(["verify", str(EXAMPLES / f"{name}.json"), "--bind", bind]) == 0
    assert "cpu (llvm) against the reference (tiny)" in capsys.readouterr().out


@pytest.mark.parametrize("name", BIND)
def test_every_dumped_layer_parses_back_and_goes_on_to_loops(name, tmp_path, capsys):
    tinyc.compile(EXAMPLES / f"{name}.json", bind=BIND[name], dump=tmp_path)
    for name in LISTINGS["cpu"][1:]:  # these programs begin as Tiny IR
        file, out = tmp_path / listing_file("cpu", name), tmp_path / "out.mlir"
        if file.suffix == ".mlir":
            assert opt.main([str(file), *TO_LOOPS.get(name, ()), "-o", str(out)]) == 0, capsys.readouterr().err
            assert ("region.kernel" in out.read_text()) == (name == "exec")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_running_example_is_right_at_odd_sizes(size):
    m, n, k = size
    rng = np.random.default_rng(0)
    x, w, bias = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    model = tinyc.compile(EXAMPLES / "gemm_bias_relu.json", target="cpu")
    exact = np.maximum(x.astype(np.float64) @ w.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(model(x, w, bias), exact, rtol=1e-3, atol=1e-3)


def test_a_model_runs_again_at_another_size():
    model = tinyc.compile(EXAMPLES / "conv2d.json", target="cpu", bind=CONV)
    reference = tinyc.compile(EXAMPLES / "conv2d.json", target="reference", bind=CONV)
    rng = np.random.default_rng(0)
    for batch, groups, inner, outer in ((1, 1, 3, 4), (2, 3, 2, 6)):
        shapes = ((batch, groups * inner, 9, 8), (outer, inner, 3, 3), (outer,))
        inputs = [rng.standard_normal(shape).astype(np.float16) for shape in shapes]
        np.testing.assert_allclose(model(*inputs), reference(*inputs), rtol=1e-3, atol=1e-3)


def test_a_long_epilogue_is_compiled():
    """300 element-wise ops behind a contraction are one kernel, and no recursion."""
    document = _product("fp32")
    for number in range(300):
        document["uops"].append({"id": f"e{number}", "uop": "NEG", "src": [f"e{number - 1}" if number else "r"]})
    x, y = np.ones((4, 5), np.float32), np.full((6, 5), 2, np.float32)
    assert (tinyc.compile(document, target="cpu")(x, y) == 10).all()


def test_a_dead_consumer_does_not_change_a_sum_of_products():
    document = _product("i32", "i8")
    document["uops"].append({"id": "dead", "uop": "NEG", "src": ["m"]})
    document["outputs"] = ["r"]
    x, y = np.full((4, 5), 100, np.int8), np.full((6, 5), 100, np.int8)
    assert (tinyc.compile(document, target="cpu")(x, y) == 50000).all()


def _product(accumulator: str, dtype: str = "fp32") -> dict:
    """Return `r[4, 6] = x[4, 5] @ y[6, 5]^T`."""
    return {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": dtype, "shape": [4, 5]}},
            {"id": "y", "uop": "INPUT", "arg": {"tensor_id": "y", "dtype": dtype, "shape": [6, 5]}},
            *(
                {
                    "id": f"{name}e",
                    "uop": "EXPAND",
                    "src": [name],
                    "arg": {"result_shape": [4, 6, 5], "broadcast_dimensions": axes},
                }
                for name, axes in (("x", [0, 2]), ("y", [1, 2]))
            ),
            {"id": "m", "uop": "MUL", "src": ["xe", "ye"]},
            {"id": "r", "uop": "REDUCE", "src": ["m"], "arg": {"op": "SUM", "axes": [2], "dtype": accumulator}},
        ]
    }
