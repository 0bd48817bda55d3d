"""Recurrent layers: against straight numpy, in every direction, with every operand, at two sizes of batch."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc.diagnostics import TinycError
from tinyc.expr.extents import symbol
from tinyc.formulas.recurrent_activations import ACTIVATIONS
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

TIME, BATCH, INPUTS, HIDDEN = 2, 2, 5, 4
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def operands_of(op, directions=1, dtype=np.float32, but=()):
    """Random operands of a layer, those that may be left out included."""
    rng = np.random.default_rng(0)
    rows = GATES[op] * HIDDEN
    shapes = {
        "x": (TIME, BATCH, INPUTS),
        "w": (directions, rows, INPUTS),
        "r": (directions, rows, HIDDEN),
        "b": (directions, 2 * rows),
        "lens": (BATCH,),
        "h": (directions, BATCH, HIDDEN),
    }
    if op == "lstm":
        shapes |= {"c": (directions, BATCH, HIDDEN), "p": (directions, 3 * HIDDEN)}
    drawn = {name: (rng.standard_normal(shape) / 2).astype(dtype) for name, shape in shapes.items()}
    drawn["lens"] = np.array([TIME, 1], np.int32)
    return {name: each for name, each in drawn.items() if name not in but}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_an_rnn_is_its_equation():
    held = operands_of("rnn", but=("lens",))
    x, w, r, b, h = (held[name].astype(np.float64) for name in ("x", "w", "r", "b", "h"))
    state, states = h[0], []
    for time in range(TIME):
        state = np.tanh(x[time] @ w[0].T + state @ r[0].T + b[0, :HIDDEN] + b[0, HIDDEN:])
        states.append(state)
    expected = np.stack(states)[:, None].astype(np.float32), state[None].astype(np.float32)
    assert_op_agrees("rnn", held, expected)


def test_an_lstm_of_one_step_is_its_equations():
    held = operands_of("lstm", but=("lens",))
    held["x"] = held["x"][:1]
    x, w, r, b, h, c, p = (held[name][0].astype(np.float64) for name in ("x", "w", "r", "b", "h", "c", "p"))
    i, o, f, new = np.split(x @ w.T + h @ r.T + b[: 4 * HIDDEN] + b[4 * HIDDEN :], 4, axis=1)
    pi, po, pf = np.split(p, 3)
    cell = sigmoid(f + pf * c) * c + sigmoid(i + pi * c) * np.tanh(new)
    hidden = sigmoid(o + po * cell) * np.tanh(cell)
    expected = [each.astype(np.float32) for each in (hidden[None, None], hidden[None], cell[None])]
    assert_op_agrees("lstm", held, expected)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_every_direction_agrees_with_sequences_that_end_early(op, direction):
    assert_op_agrees(op, operands_of(op, 1 + (direction == "bidirectional")), direction=direction)


def test_beyond_the_end_of_a_sequence_there_are_zeros_and_its_last_state_is_given():
    y, last = results_of("gru", operands_of("gru"))
    assert not y[1:, 0, 1].any()
    np.testing.assert_array_equal(last[0, 1], y[0, 0, 1])


@pytest.mark.parametrize("linear_before_reset", [False, True])
@pytest.mark.parametrize("but", [(), ("b", "lens", "h")])
def test_a_gru_resets_before_or_after_its_product(linear_before_reset, but):
    assert_op_agrees("gru", operands_of("gru", but=but), linear_before_reset=linear_before_reset)


@pytest.mark.parametrize("input_forget", [False, True])
@pytest.mark.parametrize("but", [("p",), ("b", "h", "c")])
def test_an_lstm_couples_its_gates_and_leaves_operands_out(input_forget, but):
    assert_op_agrees("lstm", operands_of("lstm", but=but), input_forget=input_forget)


def test_operands_of_activations_are_clipped():
    held = {**operands_of("lstm", but=("lens",))}
    assert_op_agrees("lstm", held, clip=0.1)
    assert not np.allclose(results_of("lstm", held, clip=0.1)[0], results_of("lstm", held)[0], atol=1e-3)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_agrees(name):
    held = operands_of("rnn", but=("lens",))
    assert_op_agrees("rnn", held, activations=(name,))
    assert_op_agrees("rnn", held, activations=(name,), alpha=(0.3,), beta=(0.7,))


def test_directions_have_their_own_activations():
    held = operands_of("rnn", 2, but=("lens",))
    y, _ = results_of("rnn", held, direction="bidirectional", activations=("relu", "tanh"))
    assert_op_agrees("rnn", held, direction="bidirectional", activations=("relu", "tanh"))
    assert y[:, 0].min() == 0 > y[:, 1].min()


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float16, 1e-3), (np.float64, 1e-9)])
def test_states_are_rounded_once(dtype, rtol):
    assert_op_agrees("lstm", operands_of("lstm", dtype=dtype), rtol=rtol, atol=1e-3 if rtol > 1e-6 else 1e-9)


def test_the_batch_may_be_a_symbol():
    held = operands_of("gru", but=("lens", "h"))
    types = {name: TensorType(ElementType.F32, each.shape) for name, each in held.items()}
    types["x"] = TensorType(ElementType.F32, (TIME, symbol("B"), INPUTS))
    model = tinyc.compile(module_of("gru", types), "cpu")
    for batch in (1, 3):
        held["x"] = np.random.default_rng(batch).standard_normal((TIME, batch, INPUTS)).astype(np.float32)
        expected = results_of("gru", held, "frontend")
        for one, other in zip(model.run_named(held).values(), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"direction": "up"}, "direction is 'up'; it is forward, reverse or bidirectional"),
        ({"activations": ("cube",)}, "activation 'cube' is not known"),
        ({"activations": ("tanh", "tanh")}, "there are 1 for each of the 1 directions"),
        ({"alpha": (1.0, 2.0)}, "alpha has 2 numbers for 1 activations"),
        ({"direction": "bidirectional"}, r"w and r begin with \[2, 4\]"),
    ],
)
def test_what_does_not_fit_is_said(changed, message):
    with pytest.raises(TinycError, match=message):
        results_of("rnn", operands_of("rnn"), **changed)


def test_the_time_has_to_be_a_number():
    types = {name: TensorType(ElementType.F32, each.shape) for name, each in operands_of("rnn", but=("lens",)).items()}
    types["x"] = TensorType(ElementType.F32, (symbol("T"), BATCH, INPUTS))
    with pytest.raises(TinycError, match="must be numbers: bind them"):
        module_of("rnn", types)


def test_a_layer_needs_a_step_of_time():
    types = {
        name: TensorType(ElementType.F32, shape)
        for name, shape in {"x": (0, 2, 3), "w": (1, 4, 3), "r": (1, 4, 4)}.items()
    }
    with pytest.raises(tinyc.TinycError, match=r"fp32 \[0, 2, 3\] has no step of time"):
        module_of("rnn", types)
