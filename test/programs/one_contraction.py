"""Random programs of one contraction: how its operands lie in memory, what is in front of it and behind it, its sizes.

`contractions()` is the hypothesis strategy: of a seed alone, since programs of hypothesis' own draws are too often the
same. A contraction is drawn as in einsum, by letters: batches `b`, rows `m`, columns `n` and the summed `k`; each
operand's axes are then stored in some order, merged, cut out of more, padded, backwards, or seen through windows. Its
`Sizes` are kinds that a CPU computes differently. `random_plans` draws plans beside it.
"""

import functools
import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from programs.strategies import Program
from workloads.graph import Graph

DTYPES = {"fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i32": np.int32}
#: What may be behind a product, by the name of the method that adds it.
EPILOGUES = ("bias", "scale", "residual", "less_largest")
#: What is told of a float output at least: the tolerance that is derived from the program is larger.
LEAST_ERROR = 1e-5


@dataclass(frozen=True)
class Sizes:
    """The rows, columns and summed elements that a kind of contraction may have."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    depths: tuple[int, ...]


TILES = Sizes((14, 33, 65, 150), (15, 16, 17, 65, 130), (1, 4, 30, 70))
KINDS = (
    Sizes((1, 2, 3, 5), (1, 2, 3, 7), (0, 1, 2, 6)),
    Sizes((1, 2, 3, 5, 12, 31), (3, 16, 63, 130, 300), (1, 7, 40, 150)),  # few rows
    Sizes((1, 7, 65, 210), (1,), (1, 5, 33, 300)),  # a single column
    TILES,
    TILES,
    Sizes((3, 15, 33), (7, 16, 35), (257, 300, 513)),  # several panels of the summed axis
    Sizes((2, 33), (257, 300, 513), (2, 9)),  # several tiles of columns
    Sizes((673, 690), (8, 17), (3, 8)),  # several tiles of rows
)


def contractions():
    """Return the strategy of programs of one contraction, with inputs."""
    return st.integers(0, 2**32 - 1).map(contraction_of)


def contraction_of(seed):
    """Return the program that a seed stands for."""
    return _Drawing(random.Random(seed)).program()


class _Drawing:
    """Draws one contraction: first its letters and their sizes, then each operand back from what is multiplied."""

    def __init__(self, drawn):
        self._drawn, self._graph = drawn, Graph()
        self._inputs, self._numbers = {}, np.random.default_rng(drawn.getrandbits(32))
        #: Whether operands are whole matrices in memory, as those of many programs are.
        self._is_plain = self._chance(2)
        sizes = self._pick(*KINDS)
        letters = {"m": self._pick(*sizes.rows), "n": self._pick(*sizes.columns), "k": self._pick(*sizes.depths)}
        #: The size of each letter; M, N and K are what is split off of one in lower case.
        self._sizes = {"b": self._pick(1, 2, 3)} if self._is_moved(3) else {}
        for letter, size in letters.items():
            inner = self._pick(*(each for each in range(1, size + 1) if size % each == 0)) if size else 1
            self._sizes |= {letter: size // inner, letter.upper(): inner} if self._is_moved(4) else {letter: size}
        #: Those that are only known at run time, as a symbol.
        self._symbols = {each: f"S{each}" for each in self._sizes if each in "bmnk" and self._is_moved(8)}
        self._element = self._pick(*("fp32",) * (6 if self._is_plain else 2), "fp16", "bf16", "i8")

    def program(self):
        """Return the program."""
        batch = self._letters("b")
        shared = "".join(each for each in batch if self._chance(2))  # both operands have it; else only one does
        joint = self._ordered(batch + self._letters("mnk"))
        left = self._operand("a", batch + self._letters("mk"))
        right = self._operand("w", shared + self._letters("k") + self._letters("n"))
        factors = [self._over(joint, *each) for each in ((left, right), (right, left))[self._chance(4)]]
        summed = [place for place, letter in enumerate(joint) if letter in "kK"]
        total = (factors[0] * factors[1]).reduce("SUM", *summed, dtype="i32" if self._element == "i8" else "fp32")
        outputs = self._epilogue(total)
        errors = {each.name: 0 if each.dtype in ("i8", "i32") else LEAST_ERROR for each in outputs}
        sizes = {symbol: self._sizes[letter] for letter, symbol in self._symbols.items()}
        right_inputs = [name for name in self._inputs if name.startswith("w")]
        are_weights = not self._chance(3) and all(map(self._is_static, right_inputs))
        weights = tuple(right_inputs) if are_weights else ()
        return Program(self._graph.program(*outputs), {}, sizes, self._inputs, errors, weights)

    # --- drawing ------------------------------------------------------------------------------------------------------

    def _pick(self, *choices):
        return self._drawn.choice(choices)

    def _chance(self, one_in):
        return self._drawn.randrange(one_in) == 0

    def _shuffled(self, things):
        return self._drawn.sample(things, len(things))

    def _is_moved(self, one_in):
        return not self._is_plain and self._chance(one_in)

    def _letters(self, kinds):
        return "".join(letter for letter in self._sizes if letter.lower() in kinds)

    def _ordered(self, letters):
        """Return the letters as they are, as often as not, or in any order."""
        return "".join(self._shuffled(letters)) if self._is_moved(2) else letters

    def _extent(self, letter):
        return self._symbols.get(letter, self._sizes[letter])

    def _is_static(self, name):
        (shape,) = (each["arg"]["shape"] for each in self._graph.nodes if each["id"] == name)
        return not any(isinstance(extent, str) for extent in shape)

    def _input(self, name, dtype, *shape):
        """Add an input of random numbers, whose shape may have symbols."""
        told = {symbol: self._sizes[letter] for letter, symbol in self._symbols.items()}
        actual = [told.get(extent, extent) for extent in shape]
        is_whole = dtype.startswith("i")
        drawn = self._numbers.integers(-8, 9, actual) if is_whole else self._numbers.uniform(-1, 1, actual)
        self._inputs[name] = np.asarray(drawn).astype(DTYPES[dtype])
        return self._graph.input(name, dtype, *shape)

    # --- an operand ---------------------------------------------------------------------------------------------------

    def _operand(self, name, letters):
        """Return a value with an axis for each letter, and the letters in the order of its axes."""
        stored = self._ordered(letters)
        narrow = {"fp32": "fp16", "fp16": "i8", "bf16": "i8", "i8": "i8"}[self._element]
        dtype = narrow if self._is_moved(5) else self._element
        rows, depth = (
            next((each for each in stored if each in kinds and each not in self._symbols), "") for kinds in ("m", "k")
        )
        if name == "a" and rows and depth and 0 < self._sizes[depth] <= 40 and self._is_moved(3):
            value, stored = self._windows(dtype, stored, rows, depth)
        else:
            value = self._moved(name, dtype, stored)
        value = value.to(self._element)
        if self._element != "i8" and stored and self._is_moved(4):
            at = self._drawn.randrange(len(stored))
            scale = self._input(f"{name}_scale", self._element, self._extent(stored[at]))
            value = value * scale.expand(value.shape, at)
        if self._element != "i8" and self._is_moved(5):
            value = (value + 0.25).apply("RELU")
        return value, stored

    def _windows(self, dtype, stored, rows, depth):
        """Return an operand whose rows are places, and whose summed elements are those of the window at each."""
        stride, dilation = self._pick(1, 2, 3), self._pick(1, 1, 2)
        before, after = self._pick(0, 0, 1, 2), self._pick(0, 0, 1)
        others = [each for each in stored if each not in (rows, depth)]
        span = stride * (self._sizes[rows] - 1) + dilation * (self._sizes[depth] - 1) + 1
        if span <= before + after:
            before = after = 0
        place = len(others)
        value = self._input("a", dtype, *map(self._extent, others), span - before - after)
        if before or after:
            value = self._padded(value, place, before, after)
        shape = [*value.shape[:place], self._sizes[rows], self._sizes[depth]]
        value = self._graph.add(
            dtype, shape, "POOL", value, kernel=[self._sizes[depth]], stride=[stride], dilation=[dilation]
        )
        return value, "".join(others) + rows + depth

    def _moved(self, name, dtype, stored):
        """Return an operand that is a matrix in memory, or a part of one, merged or moved."""
        shape, steps = [self._extent(letter) for letter in stored], []
        for axis, letter in enumerate(stored):
            if letter not in self._symbols and self._is_moved(6):
                steps.append((axis, self._pick("cut", "step", "pad", "flip")))
        held = list(shape)
        for axis, step in steps:
            change = {
                "cut": lambda size: size + 3,
                "step": lambda size: 2 * size + 1,
                "pad": lambda size: max(size - 2, 0),
            }
            held[axis] = change.get(step, lambda size: size)(held[axis])
        static = [at for at in range(len(held) - 1) if isinstance(held[at], int) and isinstance(held[at + 1], int)]
        if static and self._is_moved(4):
            at = self._pick(*static)
            value = self._input(name, dtype, *held[:at], held[at] * held[at + 1], *held[at + 2 :]).reshape(*held)
        else:
            value = self._input(name, dtype, *held)
        for axis, step in steps:
            value = getattr(self, f"_{step}")(value, axis, shape[axis])
        return value

    def _cut(self, value, axis, size):
        low = self._pick(0, 1, 3)
        return value.shrink(axis, low, low + size)

    def _step(self, value, axis, size):
        low = self._pick(0, 1)
        rank = len(value.shape)
        shape = [*value.shape[:axis], size, *value.shape[axis + 1 :]]
        lo, hi, step = [0] * rank, list(value.shape), [1] * rank
        lo[axis], hi[axis], step[axis] = low, low + 2 * size, 2
        hi[axis] = min(hi[axis], value.shape[axis])
        return self._graph.add(value.dtype, shape, "SHRINK", value, lo=lo, hi=hi, step=step)

    def _pad(self, value, axis, size):
        before = min(self._pick(0, 1, 2), size - value.shape[axis])
        return self._padded(value, axis, before, size - value.shape[axis] - before)

    def _padded(self, value, axis, before, after):
        rank = len(value.shape)
        pads = [[0, 0] for _ in range(rank)]
        pads[axis] = [before, after]
        shape = [*value.shape[:axis], value.shape[axis] + before + after, *value.shape[axis + 1 :]]
        number = self._pick(0, 0, 0, 1)
        return self._graph.add(value.dtype, shape, "PAD", value, pad=pads, value=number)

    def _flip(self, value, axis, _):
        return value.flip(axis)

    # --- the product, and what is behind it ---------------------------------------------------------------------------

    def _over(self, joint, value, letters):
        """Return an operand over the axes of the product."""
        if self._chance(2):  # moved first, or by the broadcast
            order = sorted(range(len(letters)), key=lambda at: joint.index(letters[at]))
            value, letters = value.permute(*order), "".join(letters[at] for at in order)
        return value.expand([self._extent(letter) for letter in joint], *map(joint.index, letters))

    def _epilogue(self, total):
        """Return the outputs."""
        steps = [getattr(self, f"_{self._pick(*EPILOGUES)}") for _ in range(self._pick(0, 0, 1, 2))]
        value = functools.reduce(lambda before, step: step(before), steps, total)
        if total.dtype == "fp32" and self._element != "fp32" and self._chance(2):
            value = value.to(self._element)
        if self._chance(4) and len(value.shape) > 1:
            value = value.permute(*self._shuffled(range(len(value.shape))))
        return [value, total] if value is not total and self._chance(5) else [value]

    def _bias(self, value):
        axis = self._axis(value)
        bias = self._input(self._name("bias"), value.dtype, value.shape[axis])
        return (value + bias.expand(value.shape, axis)).apply("RELU")

    def _scale(self, value):
        axis = self._axis(value)
        return value * self._input(self._name("factor"), value.dtype, value.shape[axis]).expand(value.shape, axis)

    def _residual(self, value):
        return value + self._input(self._name("residual"), value.dtype, *value.shape)

    def _less_largest(self, value):
        return value - value.spread("MAX", self._axis(value))

    def _axis(self, value):
        return self._drawn.randrange(len(value.shape))

    def _name(self, kind):
        return f"{kind}{len(self._inputs)}"
