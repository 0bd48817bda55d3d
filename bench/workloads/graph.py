"""A program under construction: tensors that add their nodes to it, in the spelling of specification 001."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Extent = int | str
Program = dict[str, Any]


@dataclass
class Graph:
    """The nodes of a program so far."""

    nodes: list[Program] = field(default_factory=list)

    def add(self, dtype: str, shape: Sequence[Extent], uop: str, /, *sources: "Tensor | float", **arg: Any) -> "Tensor":
        """Add a node, whose result has that type."""
        name = arg["tensor_id"] if uop == "INPUT" else f"{uop.lower()}{len(self.nodes)}"
        written = [source.name if isinstance(source, Tensor) else source for source in sources]
        self.nodes.append({"id": name, "uop": uop, "src": written, "arg": arg})
        return Tensor(self, name, dtype, tuple(shape))

    def input(self, name: str, dtype: str, *shape: Extent) -> "Tensor":
        """Add an input."""
        return self.add(dtype, shape, "INPUT", tensor_id=name, dtype=dtype, shape=list(shape))

    def weights(self, dtype: str, *shape: Extent) -> "Tensor":
        """Add an input that is called by its number."""
        return self.input(f"w{len(self.nodes)}", dtype, *shape)

    def iota(self, dtype: str, shape: Sequence[Extent], axis: int) -> "Tensor":
        """Add the index along an axis."""
        return self.add(dtype, shape, "IOTA", shape=list(shape), axis=axis, dtype=dtype)

    def program(self, *outputs: "Tensor") -> Program:
        """Return the program with these outputs."""
        return {"uops": self.nodes, "outputs": [output.name for output in outputs]}


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of a graph; arithmetic takes numbers, and tensors of its shape."""

    graph: Graph
    name: str
    dtype: str
    shape: tuple[Extent, ...]

    def apply(self, uop: str, *others: "Tensor | float") -> "Tensor":
        """Apply an element-wise uop that gives this type."""
        return self.graph.add(self.dtype, self.shape, uop, self, *others)

    def __add__(self, other: "Tensor | float") -> "Tensor":
        return self.apply("ADD", other)

    def __sub__(self, other: "Tensor | float") -> "Tensor":
        return self.apply("SUB", other)

    def __mul__(self, other: "Tensor | float") -> "Tensor":
        return self.apply("MUL", other)

    def __truediv__(self, other: "Tensor | float") -> "Tensor":
        return self.apply("FDIV", other)

    def less(self, other: "Tensor | float") -> "Tensor":
        """Compare; the result is `bool`."""
        return self.graph.add("bool", self.shape, "CMP_LT", self, other)

    def where(self, condition: "Tensor", otherwise: float) -> "Tensor":
        """Keep what a condition holds for."""
        return self.graph.add(self.dtype, self.shape, "WHERE", condition, self, otherwise)

    def to(self, dtype: str) -> "Tensor":
        """Cast, where that changes the type."""
        return self if dtype == self.dtype else self.graph.add(dtype, self.shape, "CAST", self, to=dtype)

    @property
    def wide(self) -> "Tensor":
        """The tensor in the type that 16-bit floats are computed in."""
        return self.to("fp32") if self.dtype in ("fp16", "bf16") else self

    # --- movements ----------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Extent) -> "Tensor":
        """The elements in another shape."""
        return self.graph.add(self.dtype, shape, "RESHAPE", self, result_shape=list(shape))

    def permute(self, *perm: int) -> "Tensor":
        """The axes in another order."""
        return self.graph.add(self.dtype, [self.shape[axis] for axis in perm], "PERMUTE", self, perm=list(perm))

    def expand(self, shape: Sequence[Extent], *axes: int) -> "Tensor":
        """Repeat it: its axes are `axes` of the result."""
        arg = {"result_shape": list(shape), "broadcast_dimensions": list(axes)}
        return self.graph.add(self.dtype, shape, "EXPAND", self, **arg)

    def shrink(self, axis: int, low: int, high: int) -> "Tensor":
        """The elements low … high - 1 along an axis."""
        shape, first = list(self.shape), [0] * len(self.shape)
        shape[axis], first[axis] = high - low, low
        last = [*self.shape[:axis], high, *self.shape[axis + 1 :]]
        return self.graph.add(self.dtype, shape, "SHRINK", self, lo=first, hi=last)

    def flip(self, axis: int) -> "Tensor":
        """The elements backwards along an axis."""
        return self.graph.add(self.dtype, self.shape, "FLIP", self, axes=[axis])

    def pad(self, axis: int, before: int, after: int, value: float = 0.0) -> "Tensor":
        """More elements along an axis."""
        extents, pads = list(self.shape), [[0, 0] for _ in self.shape]
        pads[axis] = [before, after]
        extents[axis] = _number(extents[axis]) + before + after
        return self.graph.add(self.dtype, extents, "PAD", self, pad=pads, value=value)

    def windows(self, kernel: Sequence[int], stride: int = 1) -> "Tensor":
        """The windows along the last axes, which come last."""
        lead = self.shape[: -len(kernel)]
        places = [
            (_number(extent) - size) // stride + 1
            for extent, size in zip(self.shape[-len(kernel) :], kernel, strict=True)
        ]
        arg = {"kernel": list(kernel), "stride": [stride] * len(kernel)}
        return self.graph.add(self.dtype, [*lead, *places, *kernel], "POOL", self, **arg)

    # --- reductions ---------------------------------------------------------------------------------------------------

    def reduce(self, op: str, *axes: int, dtype: str | None = None) -> "Tensor":
        """Reduce axes, in `dtype`: by default the type itself, fp32 for a sum of 16-bit floats; op may be MEAN."""
        reduced = {axis % len(self.shape) for axis in axes}
        kept = [extent for axis, extent in enumerate(self.shape) if axis not in reduced]
        result = dtype or (self.dtype if op == "MAX" or self.dtype not in ("fp16", "bf16") else "fp32")
        arg = {"axes": sorted(reduced), "dtype": result}
        if op == "MEAN":
            return self.graph.add(result, kept, "MEAN", self, **arg)
        return self.graph.add(result, kept, "REDUCE", self, op=op, **arg)

    def spread(self, op: str, *axes: int) -> "Tensor":
        """Reduce axes, and repeat the result along them."""
        reduced = {axis % len(self.shape) for axis in axes}
        kept = [axis for axis in range(len(self.shape)) if axis not in reduced]
        return self.reduce(op, *axes).expand(self.shape, *kept)


def _number(extent: Extent) -> int:
    if isinstance(extent, str):
        raise TypeError(f"a window or a pad needs a number, not the symbol {extent!r}")
    return extent
