"""Recurrent layers, time after time."""

from collections.abc import Callable, Iterator

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions

_DEFAULTS = {
    "affine": (1.0, 0.0),
    "elu": (1.0, 0.0),
    "hard_sigmoid": (0.2, 0.5),
    "leaky_relu": (0.01, 0.0),
    "scaled_tanh": (1.0, 1.0),
    "thresholded_relu": (1.0, 0.0),
}
_ACTIVATIONS: dict[str, Callable[[np.ndarray, float, float], np.ndarray]] = {
    "affine": lambda x, a, b: a * x + b,
    "elu": lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))),
    "hard_sigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "leaky_relu": lambda x, a, b: np.where(x >= 0, x, a * x),
    "relu": lambda x, a, b: np.maximum(x, 0),
    "scaled_tanh": lambda x, a, b: a * np.tanh(b * x),
    "sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)),
    "softplus": lambda x, a, b: np.logaddexp(0, x),
    "softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "tanh": lambda x, a, b: np.tanh(x),
    "thresholded_relu": lambda x, a, b: np.where(x >= a, x, 0),
}


def _functions(attributes: dict, count: int, directions: int) -> list[list[Callable[[np.ndarray], np.ndarray]]]:
    """The activations of each direction, on clipped operands."""
    names, clip = attributes["activations"], attributes["clip"]
    alpha, beta = attributes["alpha"], attributes["beta"]

    def function(at: int) -> Callable[[np.ndarray], np.ndarray]:
        at %= len(names)
        a, b = _DEFAULTS.get(names[at], (0.0, 0.0))
        a, b = alpha[at] if alpha else a, beta[at] if beta else b
        bound = np.inf if clip is None else clip
        return lambda x: _ACTIVATIONS[names[at]](np.clip(x, -bound, bound), a, b)

    return [[function(direction * count + at) for at in range(count)] for direction in range(directions)]


def _each_direction(
    operands: list[np.ndarray | None], count: int, attributes: dict
) -> Iterator[tuple[list[np.ndarray | None], list, np.ndarray]]:
    """The operands of a direction in f64, its activations, and its times in order."""
    x, w, *_ = operands
    assert x is not None
    assert w is not None
    functions = _functions(attributes, count, len(w))
    for direction in range(len(w)):
        held = [None if each is None else each[direction].astype(np.float64) for each in operands[1:]]
        times = np.arange(len(x))
        is_reverse = attributes["direction"] == "reverse" or direction == 1
        yield held, functions[direction], times[::-1] if is_reverse else times


def _run(x: np.ndarray, lens: np.ndarray | None, times: np.ndarray, states: list[np.ndarray], step: Callable) -> tuple:
    """All hidden states of a direction, and its last states."""
    ends = np.full(x.shape[1], len(x)) if lens is None else lens
    y = np.zeros((len(x), *states[0].shape))
    for time in times:
        rows = np.flatnonzero(time < ends)
        new = step(x[time].astype(np.float64), *states)
        states = [np.array(each) for each in states]
        for state, each in zip(states, new, strict=True):
            state[rows] = each[rows]
        y[time, rows] = new[0][rows]
    return y, *states


def _stacked(found: list[tuple]) -> tuple[np.ndarray, ...]:
    first, *last = zip(*found, strict=True)
    return np.stack(first, 1), *(np.stack(each, 0) for each in last)


def _or_zeros(state: np.ndarray | None, x: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.zeros((x.shape[1], r.shape[-1])) if state is None else state


def _biases(b: np.ndarray | None, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    of_inputs, of_state = np.split(np.zeros(2 * len(r)) if b is None else b, 2)
    return of_inputs, of_state


def _rnn(x, w, r, b, lens, h, **attributes) -> tuple[np.ndarray, ...]:
    def direction(held, functions, times):
        (w1, r1, b1, h1), (f,) = held, functions
        of_inputs, of_state = _biases(b1, r1)

        def step(xt, h):
            return (f(xt @ w1.T + of_inputs + h @ r1.T + of_state),)

        return _run(x, lens, times, [_or_zeros(h1, x, r)], step)

    return _stacked([direction(*each) for each in _each_direction([x, w, r, b, h], 1, attributes)])


def _gru(x, w, r, b, lens, h, linear_before_reset, **attributes) -> tuple[np.ndarray, ...]:
    def direction(held, functions, times):
        (w1, r1, b1, h1), (f, g) = held, functions
        (wz, wr, wh), (rz, rr, rh) = np.split(w1, 3), np.split(r1, 3)
        (wbz, wbr, wbh), (rbz, rbr, rbh) = (np.split(each, 3) for each in _biases(b1, r1))

        def step(xt, h):
            z = f(xt @ wz.T + h @ rz.T + wbz + rbz)
            reset = f(xt @ wr.T + h @ rr.T + wbr + rbr)
            if linear_before_reset:
                new = g(xt @ wh.T + reset * (h @ rh.T + rbh) + wbh)
            else:
                new = g(xt @ wh.T + (reset * h) @ rh.T + rbh + wbh)
            return ((1 - z) * new + z * h,)

        return _run(x, lens, times, [_or_zeros(h1, x, r)], step)

    return _stacked([direction(*each) for each in _each_direction([x, w, r, b, h], 2, attributes)])


def _lstm(x, w, r, b, lens, h, c, p, input_forget, **attributes) -> tuple[np.ndarray, ...]:
    def direction(held, functions, times):
        (w1, r1, b1, h1, c1, p1), (f, g, last) = held, functions
        (wi, wo, wf, wc), (ri, ro, rf, rc) = np.split(w1, 4), np.split(r1, 4)
        bi, bo, bf, bc = np.split(sum(_biases(b1, r1)), 4)
        pi, po, pf = (0, 0, 0) if p1 is None else np.split(p1, 3)

        def step(xt, h, c):
            i = f(xt @ wi.T + h @ ri.T + pi * c + bi)
            forget = 1 - i if input_forget else f(xt @ wf.T + h @ rf.T + pf * c + bf)
            cell = forget * c + i * g(xt @ wc.T + h @ rc.T + bc)
            o = f(xt @ wo.T + h @ ro.T + po * cell + bo)
            return o * last(cell), cell

        return _run(x, lens, times, [_or_zeros(h1, x, r), _or_zeros(c1, x, r)], step)

    return _stacked([direction(*each) for each in _each_direction([x, w, r, b, h, c, p], 3, attributes)])


IN_NUMPY: NumpyFunctions = {"gru": _gru, "lstm": _lstm, "rnn": _rnn}
