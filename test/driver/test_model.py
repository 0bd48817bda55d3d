"""`Model`: how it is called, where it writes its outputs, and what its `repr` says."""

from pathlib import Path

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from tinyc.diagnostics import TinycError

TARGETS = ("cpu", "sim", "reference")
SUM = program(
    tensor("X", "M", "K"), tensor("W", "M", "K"), node("s", "ADD", "X", "W"), node("d", "SUB", "X", "W"), outputs=["s"]
)
BOTH = {**SUM, "outputs": ["s", "d"]}
X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.full((2, 3), 2, np.float32)


def refused(call, *arguments, **named) -> TinycError:
    with pytest.raises(TinycError) as caught:
        call(*arguments, **named)
    return caught.value


@pytest.fixture(params=TARGETS)
def target(request):
    return request.param


def test_inputs_are_given_by_place_and_by_name():
    model = tinyc.compile(SUM, target="reference")
    for result in (model(X, W), model(X, W=W), model(W=W, X=X)):
        np.testing.assert_array_equal(result, X + W)


@pytest.mark.parametrize(
    ("arrays", "named", "messages"),
    [
        ((X, W), {"X": X, "W": W}, [f"input '{n}' is given twice, by place ({p})" for p, n in ((1, "X"), (2, "W"))]),
        ((X, W, X), {}, ["the model takes 2 inputs (X, W), not 3; leave the rest out"]),
        ((X,), {}, ["input 'W' is missing; give an array of fp32 [M, K]"]),
        ((X,), {"WW": W}, ["the program has no input 'WW'; did you mean 'W'?", "input 'W' is missing"]),
        ((X, W), {"zebra": W}, ["the program has no input 'zebra'; there are X, W"]),
    ],
)
def test_a_call_says_what_does_not_fit(arrays, named, messages):
    error = refused(tinyc.compile(SUM, target="reference"), *arrays, **named)
    assert error.name == "InputMismatch"
    assert [each.message[: len(text)] for each, text in zip(error.errors, messages, strict=True)] == messages


def test_an_input_may_be_called_as_an_option_is():
    model = tinyc.compile(program(tensor("out", 2), node("y", "NEG", "out")))
    given, taken = np.ones(2, np.float32), np.empty(2, np.float32)
    assert model(out=given).tolist() == model.run(out=given)["y"].tolist() == [-1, -1]
    assert tinyc.model_run(model, {"out": given}, out=taken)["y"] is taken
    assert taken.tolist() == [-1, -1]


def test_an_output_is_written_into_the_array_that_is_given(target):
    model = tinyc.compile(SUM, target=target)
    taken = np.full((2, 3), np.nan, np.float32)
    for out in (taken, (taken,), [taken], {"s": taken}):
        taken[...] = np.nan
        assert model(X, W, out=out) is taken
        np.testing.assert_array_equal(taken, X + W)
    assert model.run(X=X, W=W, out=taken)["s"] is taken
    assert model(X, W) is not taken


def test_several_outputs_are_written_in_order_or_by_name(target):
    model = tinyc.compile(BOTH, target=target)
    s, d = np.empty((2, 2, 3), np.float32)
    assert all(one is other for one, other in zip(model(X, W, out=(s, d)), (s, d), strict=True))
    np.testing.assert_array_equal([s, d], [X + W, X - W])
    d[...] = 0
    fresh, mine = model(X, W, out={"d": d})
    assert mine is d
    assert fresh is not s
    np.testing.assert_array_equal([fresh, d], [X + W, X - W])


def test_strided_arrays_and_those_of_inputs_are_written_by_a_copy(target):
    model = tinyc.compile(program(tensor("x", "N"), node("r", "FLIP", "x", axes=[0])), target=target)
    x, wide = np.arange(5, dtype=np.float32), np.zeros(10, np.float32)
    for out in (wide[::2], wide[9:4:-1], np.frombuffer(bytearray(21), np.float32, offset=1, count=5)):
        assert model(x, out=out) is out
        assert out.tolist() == [4, 3, 2, 1, 0]
    expected = tinyc.compile(SUM, target="reference")(X, W)
    mine = X.copy()
    assert tinyc.compile(SUM, target=target)(mine, W, out=mine) is mine
    np.testing.assert_array_equal(mine, expected)
    model(x, out=x)  # a flip in place would read what it has written
    assert x.tolist() == [4, 3, 2, 1, 0]
    if target != "reference":
        assert [remark.code for remark in model.remarks].count("output-copied") >= 1


def test_the_memory_of_a_dense_array_is_what_the_cpu_fills():
    model = tinyc.compile(SUM)
    model(X, W, out=np.empty((2, 3), np.float32))
    assert "output-copied" not in {remark.code for remark in model.remarks}


def test_an_output_that_overlaps_an_input_partly_gets_the_right_numbers(target):
    model = tinyc.compile(program(tensor("x", "N"), node("r", "FLIP", "x", axes=[0])), target=target)
    both = np.arange(8, dtype=np.float32)
    assert model(both[:6], out=both[2:]).tolist() == [5, 4, 3, 2, 1, 0]
    assert both.tolist() == [0, 1, 5, 4, 3, 2, 1, 0]


def test_a_program_of_rank_0_takes_and_gives_arrays_of_rank_0(target):
    model = tinyc.compile(program(tensor("x"), node("y", "NEG", "x")), target=target)
    assert model(np.float32(3)).tolist() == model(np.array(3, np.float32)).tolist() == -3
    assert model(np.float32(3)).shape == ()


READ_ONLY = np.empty((2, 3), np.float32)
READ_ONLY.flags.writeable = False
REPEATED = np.lib.stride_tricks.as_strided(np.empty(3, np.float32), (2, 3), (0, 4))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((2, 3)), "'s' is of type float64; the program gives fp32, numpy's float32: give an array of fp32 [2"),
        (np.empty((3, 2), np.float32), "'s' has shape [3, 2]; this run gives fp32 [2, 3]"),
        (READ_ONLY, "'s' is read-only"),
        (REPEATED, "'s' has the same memory for several of its elements"),
        (5, "'s' is a int; give a numpy array of fp32 [2, 3]"),
        (np.ma.masked_array(X, X > 2), "'s' is a MaskedArray; give a numpy array"),
        ((X, X), "out has 2 entries, and the program has 1 output (s); give one array for each"),
        ({"S": X}, "out: the program has no output 'S'; there are s"),
    ],
)
def test_an_array_that_cannot_take_the_output_is_refused(target, out, message):
    error = refused(tinyc.compile(SUM, target=target), X, W, out=out)
    assert error.name == "OutputMismatch"
    assert message in error.message


def test_outputs_do_not_share_memory(target):
    model = tinyc.compile(BOTH, target=target)
    both = np.empty((3, 3), np.float32)
    assert "outputs 's' and 'd' share memory" in refused(model, X, W, out=(both[:2], both[1:])).message
    assert "out is one ndarray, and the program has 2 outputs (s, d); give" in refused(model, X, W, out=both).message
    wide = np.empty((2, 6), np.float32)
    model(X, W, out=(wide[:, ::2], wide[:, 1::2]))  # side by side is apart
    np.testing.assert_array_equal([wide[:, ::2], wide[:, 1::2]], [X + W, X - W])


def test_the_repr_says_what_a_model_is():
    shown = "(X: fp32 [M, K], W: fp32 [M, K]) -> (s: fp32 [M, K])>"
    model = tinyc.compile(SUM)
    assert repr(model) == f"<tinyc.Model on cpu, 1 kernel [elementwise_add]: {shown}"
    model.free()
    assert repr(model) == f"<tinyc.Model on cpu, 1 kernel [elementwise_add], freed: {shown}"
    assert repr(tinyc.compile(SUM, target="reference")) == f"<tinyc.Model on reference: {shown}"
    for target in ("sim", "cuda"):
        model = tinyc.compile(SUM, target=target, arch="sm_90a")
        assert repr(model) == f"<tinyc.Model on {target}, sm_90a, 1 kernel [elementwise_add]: {shown}"


def test_the_repr_names_the_first_of_many_kernels():
    names = [f"y{k}" for k in range(6)]
    nodes = [node(name, "REDUCE", "x", op="SUM", axes=[0], dtype="fp32") for name in names]
    shapes = [tensor(f"x{k}", k + 2) for k in range(6)]
    sums = [{**each, "src": [f"x{k}"]} for k, each in enumerate(nodes)]
    shown = repr(tinyc.compile(program(*shapes, *sums, outputs=names)))
    assert ", 6 kernels [reduce_sum, " in shown
    assert ", …]: (x0: fp32 [2], x1" in shown


def test_the_memory_that_a_run_needs_is_told_for_sizes():
    softmax = Path(__file__).parents[2] / "examples" / "softmax.json"
    for target in ("cpu", "sim", "cuda"):
        needed = tinyc.compile(softmax, target=target, fusion="none").required_memory(M=30, N=70)
        assert (needed.inputs, needed.outputs, needed.pool) == (4 * 30 * 70,) * 2 + (0,)
        assert needed.arena >= 4 * 30 * 70
        assert needed.arena % 256 == 0
    assert tinyc.compile(softmax, bind={"M": 3, "N": 7}).required_memory() == (0, 0, 84, 84)


@pytest.mark.parametrize(
    ("sizes", "name", "message"),
    [
        ({"M": 2}, "UnboundSymbol", "the memory depends on 'K'; give a size: K=…"),
        ({"M": 2, "K": 3, "L": 4}, "InvalidExtent", "the program has no symbol 'L'; there are M, K"),
        ({"M": 2, "K": -3}, "InvalidExtent", "'K' is -3, no size; give an integer"),
        ({"M": 2, "K": "x"}, "InvalidExtent", "'K' is 'x', no size"),
    ],
)
def test_sizes_for_which_there_is_no_memory_are_refused(sizes, name, message):
    error = refused(tinyc.compile(SUM).required_memory, **sizes)
    assert error.name == name
    assert message in error.message
    error = refused(tinyc.compile(SUM, target="reference").required_memory, **sizes)
    assert "'reference' makes arrays as it goes and has no arena; compile for 'cpu', 'sim' or 'cuda'" in error.message
