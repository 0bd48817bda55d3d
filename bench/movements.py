"""Movements on the CPU beside numpy's own and beside copies, and transposed convolutions beside others. Prints tables.

    .venv/bin/python bench/movements.py [--record] [NAME …]       # --record writes bench/results/movements.txt

An op of the Frontend layer is compiled alone, once, and given arrays; where extents are symbols, they are known when it
runs. tinyc, numpy and a copy that reads and writes as many bytes run by turns, so that all meet the same machine, each
with memory of its own for the result; a time is the least of the rounds. A transposed convolution is measured by the
products that it is made of, in a second, over those of a convolution.
"""

import argparse
import contextlib
import functools
import io
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tinyc
from figures import Figures, machine, show
from frontend_modules import module_of
from timing import seconds
from tinyc.executors.elements import element_of
from tinyc.expr.extents import Dim, symbol
from tinyc.mlir import ir
from tinyc.text.table import Table
from tinyc.vocabulary.types import TensorType

RESULTS = Path(__file__).parent / "results" / "movements.txt"
ROUNDS = 40
M, N = symbol("M"), symbol("N")
COLUMNS = ("what", "MB moved", "GB/s", "ms", "numpy ms", "over numpy", "copy ms", "over a copy")


@dataclass(frozen=True)
class Movement:
    """An op on arrays, numpy's own function for it, and the most that it may take over the slower of numpy and a copy.

    `shapes` are the symbolic shapes of the operands that have some.
    """

    op: str
    arrays: Mapping[str, np.ndarray]
    native: Callable[..., np.ndarray]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shapes: Mapping[str, tuple[Dim, ...]] = field(default_factory=dict[str, tuple[Dim, ...]])
    most: float = 1.2


def typed(
    op: str, arrays: Mapping[str, np.ndarray], attributes: Mapping[str, Any], shapes: Mapping[str, tuple[Dim, ...]]
) -> ir.Module:
    """The module of an op, whose operands have the types of arrays, or symbolic shapes."""
    types: dict[str, TensorType] = {}
    for each, x in arrays.items():
        element = element_of(x.dtype)
        assert element is not None  # arrays of this file
        types[each] = TensorType(element, shapes.get(each, x.shape))
    return module_of(op, types, **attributes)


def movements() -> dict[str, Movement]:
    """What is measured, by name."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((1024, 1024), dtype=np.float32) for _ in range(2))
    image = rng.standard_normal((8, 32, 64, 64), dtype=np.float32)
    table, ids = rng.standard_normal((30_000, 768), dtype=np.float32), rng.integers(0, 30_000, 2048)
    pair = {"x": x, "y": y}

    def concat(axis: int, *shapes: tuple[Dim, ...]) -> Movement:
        named = dict(zip(pair, shapes, strict=False))
        return Movement("concat", pair, lambda x, y: np.concatenate([x, y], axis), {"axis": axis}, named)

    def pad(mode: Literal["constant", "edge", "reflect", "wrap"]) -> Movement:
        widths = ((0, 0), (0, 0), (1, 1), (1, 1))
        attributes = {"before": (0, 0, 1, 1), "after": (0, 0, 1, 1), "mode": mode}
        return Movement("movement pad", {"x": image}, lambda x: np.pad(x, widths, mode), attributes)

    def rolled(x: np.ndarray) -> np.ndarray:
        return np.roll(x, (3, 5), (0, 1))

    sliced = {"lo": (0, 256), "hi": (1024, 768), "step": (1, 1)}
    tokens, levels = rng.integers(0, 512, 4096), np.array([0, 1], np.float32)
    one_hot = {"index": tokens, "levels": levels}
    eye = np.eye(512, dtype=np.float32)
    return {
        "concat of rows": concat(0),
        "concat of columns": concat(1),
        "concat of symbolic rows": concat(0, (M, 1024), (N, 1024)),
        "concat of symbolic columns": concat(1, (1024, M), (1024, N)),
        "concat, all symbolic": concat(1, (symbol("R"), M), (symbol("R"), N)),
        "constant pad": pad("constant"),
        "edge pad": pad("edge"),
        "reflect pad": pad("reflect"),
        "wrap pad": pad("wrap"),
        "split: the middle half": Movement(
            "movement slice", {"x": x}, lambda x: np.ascontiguousarray(x[:, 256:768]), sliced, most=1.5
        ),
        "tile": Movement("movement tile", {"x": x}, lambda x: np.tile(x, (2, 3)), {"repeats": (2, 3)}),
        "roll": Movement("movement roll", {"x": x}, rolled, {"shifts": (3, 5), "axes": (0, 1)}),
        "flip of rows": Movement("movement flip", {"x": x}, lambda x: np.flip(x, 0).copy(), {"axes": (0,)}),
        "flip of columns": Movement("movement flip", {"x": x}, lambda x: np.flip(x, 1).copy(), {"axes": (1,)}),
        "embedding": Movement(
            "gather embedding", {"data": table, "index": ids}, lambda data, index: np.take(data, index, 0), most=2
        ),
        "gather of rows": Movement(
            "gather axis",
            {"data": table, "index": ids},
            lambda data, index: np.take(data, index, 0),
            {"axis": 0},
            most=2,
        ),
        "one-hot": Movement("one_hot", one_hot, lambda index, levels: eye[index], {"shape": (4096, 512), "axis": -1}),
    }


def measured(name: str, case: Movement, figures: Figures) -> tuple[Any, ...]:
    """The row of a movement; its ratio goes to `figures`."""
    model = tinyc.compile(typed(case.op, case.arrays, case.attributes, case.shapes), "cpu")
    (found,) = model.run_named(case.arrays).values()
    np.testing.assert_array_equal(found, case.native(*case.arrays.values()))
    moved = found.nbytes + min(found.nbytes, sum(x.nbytes for x in case.arrays.values()))
    source = np.ones(moved // 2, np.uint8)
    works = (lambda: model.run_named(case.arrays), lambda: case.native(*case.arrays.values()), source.copy)
    rounds = [[seconds(work) for work in works] for _ in range(ROUNDS + 2)][2:]
    own, numpys, copies = (min(times) for times in zip(*rounds, strict=True))
    ratio = min(own / numpys, own / copies)
    figures.row(f"{name}, over the slower of numpy and a copy", ratio, "×", case.most)
    return (
        *(name, f"{moved / 1e6:.1f}", f"{moved / own / 1e9:.1f}", f"{own * 1e3:.2f}", f"{numpys * 1e3:.2f}"),
        *(f"{own / numpys:.2f} ×", f"{copies * 1e3:.2f}", f"{own / copies:.2f} ×"),
    )


def transposed(figures: Figures) -> None:
    """Transposed convolutions of 32 channels over a convolution: each has at least so much of its products a second."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 32, 32, 32), dtype=np.float32)
    w = {size: rng.standard_normal((32, 32, size, size), dtype=np.float32) for size in (2, 3, 4)}
    cases = {
        "conv, kernel 3": ("conv", w[3], {"pads": (1,) * 4}, 1),
        "conv_transpose, kernel 3": ("conv_transpose", w[3], {"pads": (1,) * 4}, 1),
        "conv_transpose, kernel 2, stride 2": ("conv_transpose", w[2], {"strides": (2, 2)}, 4),
        "conv_transpose, kernel 4, stride 2": ("conv_transpose", w[4], {"strides": (2, 2), "pads": (1,) * 4}, 4),
        "conv_transpose, kernel 3, stride 2": ("conv_transpose", w[3], {"strides": (2, 2), "pads": (1,) * 4}, 4),
    }
    models: dict[str, tuple[Callable[[], Any], float]] = {}
    for name, (op, weights, attributes, phases) in cases.items():
        arrays = {"x": x, "w": weights}
        model = tinyc.compile(typed(op, arrays, attributes, {}), "cpu")
        (result,) = model.run_named(arrays).values()
        products = result.size * weights[0].size / phases
        models[name] = functools.partial(model.run_named, arrays), products
    rounds = [{name: seconds(work) for name, (work, _) in models.items()} for _ in range(ROUNDS)]
    rates = {name: products / min(times[name] for times in rounds) for name, (_, products) in models.items()}
    base = rates["conv, kernel 3"]
    for name, rate in rates.items():
        figures.row(f"{name}: products a second", rate / 1e9, "· 10⁹")
        if name != "conv, kernel 3":
            figures.row("the same, over those of the convolution", rate / base, "×", least=0.25)


def main() -> int:
    """Measure the movements that are named, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Measure movements beside numpy's own and beside copies.")
    parser.add_argument("names", nargs="*", help="movements, all if none is named")
    parser.add_argument("--record", action="store_true", help=f"write the tables to {RESULTS.name} as well")
    arguments = parser.parse_args()
    figures, cases = Figures("bounds"), movements()
    rows = tuple(measured(name, cases[name], figures) for name in arguments.names or cases)
    if not arguments.names:
        transposed(figures)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(machine(("llvmlite", "numpy")), Table("movements on the CPU, f32", COLUMNS, rows), figures.table)
    print(text.getvalue(), end="")
    if arguments.record:
        RESULTS.write_text(text.getvalue())
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
