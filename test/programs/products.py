"""Programs of one matrix product, by what a tensor core's template has to get right about it.

In: element type, layouts, batch, what is in front of the product and behind it, sizes. Out: the program as Tiny JSON,
and inputs whose products the reference has exactly: for tf32 they have no more bits than tf32 does.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

STORAGE = {
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
}
#: Where M, N and K stand in the operands: "n" as in A [M, K] and B [K, N], "t" the other way.
LAYOUTS = ("nn", "nt", "tn", "tt")
BATCHES = ("one", "batched", "same_a", "same_b")
PROLOGUES = ("none", "cast", "scale", "shift")
EPILOGUES = ("none", "bias", "column", "residual", "outputs", "mixed")
_GROUP = 3


@dataclass(frozen=True)
class Product:
    """A program of one product; `sizes` are M, N and K, which are only told at a run where `dynamic`."""

    element: str = "fp16"
    layout: str = "nn"
    batch: str = "one"
    prologue: str = "none"
    epilogue: str = "none"
    sizes: tuple[int, int, int] = (64, 64, 64)
    dynamic: bool = False

    @property
    def names(self) -> tuple[int | str, ...]:
        """M, N and K as the program has them."""
        return ("M", "N", "K") if self.dynamic else self.sizes

    @property
    def document(self) -> dict:
        """The program."""
        return _Writer(self).write()

    def inputs(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Random inputs, of either sign."""
        random = np.random.default_rng(seed)
        return {
            name: _values(random, dtype, [dict(zip("MNK", self.sizes, strict=True)).get(each, each) for each in shape])
            for name, (dtype, shape) in _inputs(self.document).items()
        }


def _inputs(document: dict) -> dict[str, tuple[str, list[int | str]]]:
    nodes = [each for each in document["uops"] if each["uop"] == "INPUT"]
    return {each["arg"]["tensor_id"]: (each["arg"]["dtype"], each["arg"]["shape"]) for each in nodes}


def _values(random: np.random.Generator, dtype: str, shape: list[int]) -> np.ndarray:
    if dtype.startswith("i"):
        return random.integers(-100, 100, shape).astype(STORAGE[dtype])
    # eighths of at most three significant decimal digits: exact in each float type here, as are their products in f32
    return (random.integers(-24, 25, shape) / 8).astype(STORAGE[dtype])


class _Writer:
    """Writes the nodes of a program."""

    def __init__(self, product: Product) -> None:
        self._product, self._nodes, self._count = product, [], 0

    def write(self) -> dict:
        product = self._product
        m, n, k = product.names
        group = [] if product.batch == "one" else [_GROUP]
        a = self._operand("A", [m, k], product.layout[0] == "t", 1 if product.batch == "same_a" else _GROUP)
        b = self._operand("B", [k, n], product.layout[1] == "t", 1 if product.batch == "same_b" else _GROUP)
        total = self._node("MATMUL", [a, b], dtype="i32" if product.element == "i8" else "fp32")
        self._shape = [*group, m, n]
        outputs = getattr(self, f"_{product.epilogue}")(total)
        return {"uops": self._nodes, "outputs": outputs}

    def _node(self, uop: str, src: list, **arg: object) -> str:
        self._count += 1
        self._nodes.append({"id": f"n{self._count}", "uop": uop, "src": src, "arg": arg})
        return f"n{self._count}"

    def _input(self, name: str, dtype: str, shape: list) -> str:
        self._nodes.append(
            {"id": name, "uop": "INPUT", "src": [], "arg": {"tensor_id": name, "dtype": dtype, "shape": shape}}
        )
        return name

    def _operand(self, name: str, shape: list, is_transposed: bool, batch: int) -> str:
        """Add an operand: in the product's type, or from another one, or scaled along k, or shifted.

        Shifted, the zeros that copies have beyond a tensor would be none any more.
        """
        product = self._product
        groups = [] if product.batch == "one" else [batch]
        stored = shape[::-1] if is_transposed else shape
        narrower = {"fp16": "i8", "bf16": "i8", "fp32": "fp16", "i8": "i8"}[product.element]
        is_cast = product.prologue == "cast" and name == "A"
        value = self._input(name, narrower if is_cast else product.element, [*groups, *stored])
        if is_cast and narrower != product.element:
            value = self._node("CAST", [value], to=product.element)
        if is_transposed:
            axes = list(range(len(groups) + 2))
            value = self._node("PERMUTE", [value], perm=[*axes[:-2], axes[-1], axes[-2]])
        if product.prologue == "scale" and name == "B":
            scale = self._input("scale", product.element, [shape[0]])
            wide = self._node("EXPAND", [scale], result_shape=[*groups, *shape], broadcast_dimensions=[len(groups)])
            value = self._node("MUL", [value, wide])
        if product.prologue == "shift" and name == "A":
            for axis, side in enumerate(("rows", "columns")):
                shift = self._input(f"shift_{side}", product.element, [shape[axis]])
                at = [len(groups) + axis]
                wide = self._node("EXPAND", [shift], result_shape=[*groups, *shape], broadcast_dimensions=at)
                value = self._node("ADD", [value, wide])
            value = self._node("RELU", [value])
        return value

    # --- epilogues: the outputs' names -------------------------------------------------------------------------------

    def _none(self, total: str) -> list[str]:
        if self._product.element in ("i8", "fp32"):
            return [total]
        return [self._node("CAST", [total], to=self._product.element)]

    def _bias(self, total: str) -> list[str]:
        """A row operand."""
        kind = self._float_or_i32
        summed = self._node("ADD", [total, self._along("bias", kind, -1)])
        positive = self._node("RELU", [summed])
        return [positive if kind == "i32" else self._node("CAST", [positive], to=self._narrow)]

    def _column(self, total: str) -> list[str]:
        scaled = self._node("MUL", [self._as_float(total), self._along("column", "fp32", -2)])
        return [self._node("CAST", [scaled], to="bf16")]

    def _residual(self, total: str) -> list[str]:
        """Full-size operands of two types."""
        added = self._as_float(total)
        for dtype in ("fp16", "fp32"):
            wide = self._input(f"residual_{dtype}", dtype, self._shape)
            added = self._node("ADD", [added, wide])
        return [self._node("CAST", [added], to=self._narrow)]

    def _outputs(self, total: str) -> list[str]:
        """Outputs of several types."""
        value = self._as_float(total)
        narrow = self._node("CAST", [value], to="fp16")
        whole = self._node("CAST", [self._node("MUL", [value, 0.125])], to="i32")
        return [narrow, self._node("RELU", [value]), whole]

    def _mixed(self, total: str) -> list[str]:
        """Row, column and full operands, a value that is read twice, a transcendental function, two outputs."""
        value = self._node("MUL", [self._as_float(total), 0.0625])
        biased = self._node("ADD", [value, self._along("bias", "fp32", -1)])
        gate = self._node("TANH", [self._node("MUL", [biased, self._along("column", "fp32", -2)])])
        gated = self._node("MUL", [biased, gate])
        out = self._node("ADD", [gated, self._input("residual", "bf16", self._shape)])
        return [self._node("CAST", [out], to="bf16"), self._node("CAST", [gate], to="fp16")]

    def _along(self, name: str, dtype: str, axis: int) -> str:
        """Add an operand that has one axis, expanded to the result."""
        rank = len(self._shape)
        source = self._input(name, dtype, [self._shape[axis]])
        return self._node("EXPAND", [source], result_shape=self._shape, broadcast_dimensions=[rank + axis])

    def _as_float(self, total: str) -> str:
        return self._node("CAST", [total], to="fp32") if self._product.element == "i8" else total

    @property
    def _float_or_i32(self) -> str:
        return "i32" if self._product.element == "i8" else "fp32"

    @property
    def _narrow(self) -> str:
        return "bf16" if self._product.element == "bf16" else "fp16"
