"""Recurrent layers as formulas, unrolled over time: rnn, gru, lstm.

`x` is `[time, batch, inputs]`, and the time is a number. The products with the inputs of all times are one contraction;
what is left for each time is one with the state (two of a gru whose reset gate comes first). Gates and states are f32
where the operands are 16-bit floats; results are rounded once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import bind_option
from tinyc.formulas.padding import stack
from tinyc.formulas.products import matmul
from tinyc.formulas.recurrent_activations import activations_of
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

#: More steps of time than that are not unrolled.
_MAX_STEPS = 1024
#: The states after a time step, the hidden one first, from the projected inputs of that time and the states before it.
Cell: TypeAlias = Callable[..., tuple[Value, ...]]


def rnn(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lens: Value | None = None,
    h: Value | None = None,
    *,
    direction: str = "forward",
    activations: tuple[str, ...] = ("tanh",),
    alpha: tuple[float, ...] = (),
    beta: tuple[float, ...] = (),
    clip: float | None = None,
) -> tuple[Value, Value]:
    """`h = f(x w' + h r' + biases)` at each time: all of them, `[time, directions, batch, hidden]`, and the last."""
    layer = _Layer(x, w, r, b, lens, direction, gates=1)
    functions = activations_of(activations, alpha, beta, clip, 1, layer.directions)

    def cell(at: int) -> Cell:
        (f,), (recurrence,) = functions[at], layer.recurrences(at, 1)
        return lambda inputs, h: (f(inputs + matmul(h, recurrence)),)

    hidden, last = layer.run([h], lambda at: layer.projected(at, layer.biases(at)), cell)
    return hidden, last


def gru(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lens: Value | None = None,
    h: Value | None = None,
    *,
    direction: str = "forward",
    activations: tuple[str, ...] = ("sigmoid", "tanh"),
    alpha: tuple[float, ...] = (),
    beta: tuple[float, ...] = (),
    clip: float | None = None,
    linear_before_reset: bool = False,
) -> tuple[Value, Value]:
    """Gated recurrent units, gates in the order update, reset, hidden: all states, and the last.

    `z, r = f(…)`, `c = g(x w' + (r h) r' + biases)`, `h = (1 - z) c + z h`; with `linear_before_reset` the hidden
    gate is `g(x w' + bias + r (h r' + bias))`.
    """
    layer = _Layer(x, w, r, b, lens, direction, gates=3)
    functions = activations_of(activations, alpha, beta, clip, 2, layer.directions)

    def biases(at: int) -> Value | None:
        """What is added to the inputs: with `linear_before_reset`, not the recurrent bias of the hidden gate."""
        if b is None or not linear_before_reset:
            return layer.biases(at)
        split, both = 2 * layer.hidden, layer.bias(at)
        recurrent = both[1].slice(0, 0, split).pad_axis(0, 0, layer.hidden)
        return both[0] + recurrent

    def cell(at: int) -> Cell:
        f, g = functions[at]
        to_gates, to_hidden = layer.recurrences(at, 2, 1)
        hidden_bias = None if b is None else layer.bias(at)[1].slice(0, 2 * layer.hidden, 3 * layer.hidden)

        def step(inputs: Value, h: Value) -> tuple[Value, ...]:
            from_z, from_r, from_h = layer.parts(inputs, 3)
            to_z, to_r = layer.parts(matmul(h, to_gates), 2)
            z, reset = f(from_z + to_z), f(from_r + to_r)
            if linear_before_reset:
                linear = matmul(h, to_hidden)
                linear = reset * (linear if hidden_bias is None else linear + hidden_bias)
            else:
                linear = matmul(reset * h, to_hidden)
            return ((1 - z) * g(from_h + linear) + z * h,)

        return step

    hidden, last = layer.run([h], lambda at: layer.projected(at, biases(at)), cell)
    return hidden, last


def lstm(
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lens: Value | None = None,
    h: Value | None = None,
    c: Value | None = None,
    p: Value | None = None,
    *,
    direction: str = "forward",
    activations: tuple[str, ...] = ("sigmoid", "tanh", "tanh"),
    alpha: tuple[float, ...] = (),
    beta: tuple[float, ...] = (),
    clip: float | None = None,
    input_forget: bool = False,
) -> tuple[Value, Value, Value]:
    """Long short-term memory, gates in the order input, output, forget, cell: all states, the last, and its cell.

    `i, o, f = f(…)`, `c = f c + i g(…)`, `h = o h(c)`; peepholes `p` add `p c` to the gates, to that of the
    output the new cell. With `input_forget`, `f = 1 - i`.
    """
    layer = _Layer(x, w, r, b, lens, direction, gates=4)
    functions = activations_of(activations, alpha, beta, clip, 3, layer.directions)

    def cell(at: int) -> Cell:
        f, g, last = functions[at]
        (recurrence,) = layer.recurrences(at, 4)
        peepholes = None if p is None else layer.parts(layer.weight(p, at), 3)

        def peep(gate: Value, number: int, state: Value) -> Value:
            return gate if peepholes is None else gate + peepholes[number] * state

        def step(inputs: Value, h: Value, c: Value) -> tuple[Value, ...]:
            to_i, to_o, to_f, to_c = layer.parts(inputs + matmul(h, recurrence), 4)
            i = f(peep(to_i, 0, c))
            forget = 1 - i if input_forget else f(peep(to_f, 2, c))
            c = forget * c + i * g(to_c)
            return f(peep(to_o, 1, c)) * last(c), c

        return step

    hidden, last, last_cell = layer.run([h, c], lambda at: layer.projected(at, layer.biases(at)), cell)
    return hidden, last, last_cell


@dataclass(frozen=True)
class _Layer:
    """The operands of a recurrent layer: weights are stacked by direction, and gate by gate along their second axis."""

    x: Value
    w: Value
    r: Value
    b: Value | None
    lens: Value | None
    direction: str
    gates: int

    def __post_init__(self) -> None:
        if self.direction not in ("forward", "reverse", "bidirectional"):
            known = "forward, reverse or bidirectional"
            raise TinycError("InvalidAttribute", f"direction is {self.direction!r}; it is {known}")
        if self.x.rank != 3 or self.w.rank != 3 or self.r.rank != 3:
            given = f"{self.x.type}, {self.w.type} and {self.r.type}"
            raise TinycError("ShapeContradiction", f"x, w and r have three axes, and are {given}")
        if not isinstance(self.x.shape[0], int) or not isinstance(self.r.shape[2], int):
            message = f"the time and the hidden states of {self.x.type} and {self.r.type} must be numbers; bind them: "
            raise TinycError("UnboundSymbol", message + bind_option(self.x.shape[0], self.r.shape[2]))
        if self.x.shape[0] < 1:
            raise TinycError("InvalidExtent", f"{self.x.type} has no step of time; a recurrent layer needs one")
        if self.x.shape[0] > _MAX_STEPS:
            message = f"{self.x.shape[0]} steps of time would be as many products, one after another; at most "
            raise TinycError("InvalidExtent", f"{message}{_MAX_STEPS} are unrolled: split the sequence")
        expected = (self.directions, self.gates * self.hidden)
        if self.w.shape[:2] != expected or self.r.shape[:2] != expected:
            message = (
                f"w and r begin with {list(expected)}, directions and gates, and are {self.w.type} and {self.r.type}"
            )
            raise TinycError("ShapeContradiction", message)

    @property
    def directions(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    @property
    def hidden(self) -> int:
        size = self.r.shape[2]
        assert isinstance(size, int)  # as checked at first
        return size

    @property
    def steps(self) -> int:
        count = self.x.shape[0]
        assert isinstance(count, int)  # as checked at first
        return count

    @property
    def element(self) -> ElementType:
        return self.x.element.accumulator

    def weight(self, stacked: Value, at: int) -> Value:
        """What a direction has of an operand."""
        return stacked.slice(0, at, at + 1).reshape(*stacked.shape[1:]).to(self.element)

    def parts(self, value: Value, count: int) -> list[Value]:
        """What each gate has of a value, along its last axis."""
        last = value.rank - 1
        return [value.slice(last, at * self.hidden, (at + 1) * self.hidden) for at in range(count)]

    def bias(self, at: int) -> list[Value]:
        """The bias of the inputs, and that of the state."""
        assert self.b is not None
        held, half = self.weight(self.b, at), self.gates * self.hidden
        return [held.slice(0, 0, half), held.slice(0, half, 2 * half)]

    def biases(self, at: int) -> Value | None:
        """Both biases."""
        if self.b is None:
            return None
        of_inputs, of_state = self.bias(at)
        return of_inputs + of_state

    def projected(self, at: int, bias: Value | None) -> Value:
        """The products of the inputs of all times with the weights, and a bias: `[time, batch, gates * hidden]`."""
        product = matmul(self.x.to(self.element), self.weight(self.w, at).permute(1, 0))
        return product if bias is None else product + bias

    def recurrences(self, at: int, *gates: int) -> list[Value]:
        """The weights of the state, transposed, for so many gates each."""
        held, low, found = self.weight(self.r, at).permute(1, 0), 0, list[Value]()
        for count in gates:
            found.append(held.slice(1, low * self.hidden, (low + count) * self.hidden))
            low += count
        return found

    def run(
        self, initial: Sequence[Value | None], projected: Callable[[int], Value], cell: Callable[[int], Cell]
    ) -> tuple[Value, ...]:
        """All hidden states, and each state after the last step."""
        batch = self.x.shape[1]
        hidden_states: list[Value] = []
        last: list[tuple[Value, ...]] = []
        for at in range(self.directions):
            zeros = self.x.builder.full(0, self.element, (batch, self.hidden))
            states = tuple(zeros if each is None else self.weight(each, at) for each in initial)
            found, states = self._unrolled(projected(at), cell(at), states, self.direction == "reverse" or at == 1)
            hidden_states.append(stack(found, 0))
            last.append(states)
        finals = [stack([states[number] for states in last], 0) for number in range(len(initial))]
        return tuple(each.to(self.x.element) for each in (stack(hidden_states, 1), *finals))

    def _unrolled(
        self, projected: Value, cell: Cell, states: tuple[Value, ...], reverse: bool
    ) -> tuple[list[Value], tuple[Value, ...]]:
        """The hidden states by time, and the last states; beyond the end of a sequence states stay, and it gives 0."""
        times = range(self.steps)
        found: dict[int, Value] = {}
        for time in reversed(times) if reverse else times:
            inputs = projected.slice(0, time, time + 1).reshape(*projected.shape[1:])
            new = cell(inputs, *states)
            found[time] = new[0]
            if self.lens is not None:
                runs = (self.lens > time).unsqueeze(1)
                found[time] = new[0].where(runs, 0)
                new = tuple(one.where(runs, before) for one, before in zip(new, states, strict=True))
            states = new
        return [found[time] for time in times], states


FORMULAS: dict[str, Function] = {"gru": gru, "lstm": lstm, "rnn": rnn}
