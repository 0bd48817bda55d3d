"""The shapes of a Tiny JSON program as they are written, in its own symbols: no symbol is bound or solved yet.

In: the nodes in order with their arguments. Out: for each result its shape (None where a node is too faulty to tell),
the equations that the program's symbols must satisfy, and the axes of each reduce, which may be named by symbols as
written. Nothing is refused here except an axis name; typing does that later, on the solved shapes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, ExtentError
from tinyc.expr.shape_equation import Equation
from tinyc.importers.spellings import REDUCING_UOPS, Node, result_names

_Shape = tuple[Dim, ...]
_Arguments = Mapping[str, Any]


@dataclass
class WrittenShapes:
    """`shapes` by result name; `axes` by the id of a `REDUCE` or `MEAN` whose operand's shape is known."""

    shapes: dict[str, _Shape | None] = field(default_factory=dict)
    axes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)

    def add(self, node: Node, arguments: _Arguments, declared: Mapping[str, _Shape]) -> None:
        """Enter a node whose sources have been entered.

        Raises:
            TinycError: `InvalidAxis` for a reduce axis whose name is not that of exactly one axis.
        """
        operands = [self.shapes.get(source) for source in node.src if isinstance(source, str)]
        if node.uop in REDUCING_UOPS and operands and operands[0] is not None:
            self.axes[node.id] = resolved_axes(arguments["axes"], operands[0])
            arguments = {**arguments, "axes": self.axes[node.id]}
        if len(operands) < len(node.src) and node.uop in _RULES:  # an immediate where typing will not have one
            operands = [None]
        self._require_equal(node.uop, operands, arguments)
        shape = _shape(node.uop, arguments, operands)
        for name in result_names(node):
            self.shapes[name] = self._declared(shape, declared.get(name))

    def _require_equal(self, uop: str, operands: Sequence[_Shape | None], arguments: _Arguments) -> None:
        """Note what the node demands of the extents."""
        if uop == "RESHAPE" and operands[0] is not None:
            self.equations.append(Equation.between(operands[0], arguments["shape"]))
        elif uop == "EXPAND" and operands[0] is not None:
            axes = expanded_axes(len(operands[0]), arguments)
            result = arguments["shape"]
            pairs = zip(axes, operands[0], strict=False)
            self._equal_axes((extent, result[axis]) for axis, extent in pairs if 0 <= axis < len(result))
        elif uop == "MATMUL":
            shapes = [operand for operand in operands if operand is not None]
            if len(shapes) == 2 and _are_matrices(*shapes):
                (*lead, _, contracted), (*others, k, _) = shapes
                self._equal_axes([*zip(lead, others, strict=True), (contracted, k)])
        elif uop not in _RULES:
            known = [operand for operand in operands if operand is not None]
            for other in known[1:]:
                if other is not known[0] and len(other) == len(known[0]):
                    self._equal_axes(zip(known[0], other, strict=True))

    def _equal_axes(self, pairs: Iterable[tuple[Dim, Dim]]) -> None:
        """Note that axes are equal; one of extent 1 is broadcast instead."""
        for left, right in pairs:
            if left != right and left != 1 and right != 1:
                self.equations.append(Equation((left,), (right,)))

    def _declared(self, shape: _Shape | None, declared: _Shape | None) -> _Shape | None:
        """A result's shape with the names that `values` gives to its axes, which count as written too."""
        if declared is None or shape is None or len(declared) != len(shape):
            return shape
        self._equal_axes(zip(shape, declared, strict=True))
        return tuple(a if isinstance(b, int) else b for a, b in zip(shape, declared, strict=True))


def resolved_axes(axes: Sequence[int | str], operand: _Shape) -> tuple[int, ...]:
    """The axes as integers; a name stands for the one axis that is written with it.

    Raises:
        TinycError: `InvalidAxis` for a name that is not that of exactly one axis.
    """
    return tuple(
        normal_axis(axis, len(operand)) if isinstance(axis, int) else _named_axis(axis, operand) for axis in axes
    )


def _named_axis(name: str, operand: _Shape) -> int:
    found = [axis for axis, extent in enumerate(operand) if isinstance(extent, Extent) and str(extent) == name]
    if len(found) == 1:
        return found[0]
    written = f"[{', '.join(map(str, operand))}]"
    which = f"the axes {found}" if found else "none of the axes"
    raise TinycError(
        "InvalidAxis", f"axis '{name}' names {which} of the operand {written}; name exactly one, or give its number"
    )


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the end as one counted from the front; what is out of range stays as it is."""
    return axis + rank if -rank <= axis < 0 else axis


def expanded_axes(rank: int, arguments: _Arguments) -> tuple[int, ...]:
    """The result axis of each operand axis of an `EXPAND`; by default the last axes correspond."""
    result_rank = len(arguments["shape"])
    listed = arguments.get("broadcast_dimensions")
    if listed is None or rank == result_rank:
        return tuple(range(result_rank - rank, result_rank))
    return listed


# --- the shape of each uop's result -----------------------------------------------------------------------------------


def _shape(uop: str, arguments: _Arguments, operands: Sequence[_Shape | None]) -> _Shape | None:
    known = [operand for operand in operands if operand is not None]
    if len(known) != len(operands) or (uop not in _RULES and not known):
        return arguments.get("shape")
    try:
        return _RULES.get(uop, _merged)(arguments, *known)
    except ExtentError:  # too large as a formula; typing looks at the values
        return None


def _stated(arguments: _Arguments, *operands: _Shape) -> _Shape | None:
    return arguments.get("shape", *operands[:1])


def _merged(arguments: _Arguments, *operands: _Shape) -> _Shape | None:
    """Element-wise: for each axis the extent that is not 1, and of two others the one that has a name."""
    shape = operands[0]
    for other in operands[1:]:
        if other is not shape and len(other) == len(shape):
            shape = tuple(
                b if a == 1 or (isinstance(a, int) and b != 1) else a for a, b in zip(shape, other, strict=True)
            )
    return max(shape, *operands, key=len)


def _permute(arguments: _Arguments, operand: _Shape) -> _Shape | None:
    perm = arguments["perm"]
    return tuple(operand[axis] for axis in perm) if sorted(perm) == [*range(len(operand))] else None


def _pad(arguments: _Arguments, operand: _Shape) -> _Shape | None:
    pad = arguments["pad"]
    return tuple(n + lo + hi for n, (lo, hi) in zip(operand, pad, strict=True)) if len(pad) == len(operand) else None


def _shrink(arguments: _Arguments, operand: _Shape) -> _Shape | None:
    lo, hi = arguments["lo"], arguments["hi"]
    step = arguments.get("step", (1,) * len(operand))
    if not len(lo) == len(hi) == len(step) == len(operand):
        return None
    return tuple(extents.ceildiv(high - low, by) for low, high, by in zip(lo, hi, step, strict=True))


def _pool(arguments: _Arguments, operand: _Shape) -> _Shape | None:
    kernel = arguments["kernel"]
    ones = (1,) * len(kernel)
    stride, dilation = arguments.get("stride", ones), arguments.get("dilation", ones)
    lead = len(operand) - len(kernel)
    if lead < 0 or not len(stride) == len(dilation) == len(kernel):
        return None
    out = (
        extents.floordiv(n - d * (k - 1) - 1, s) + 1
        for n, k, s, d in zip(operand[lead:], kernel, stride, dilation, strict=True)
    )
    return (*operand[:lead], *out, *kernel)


def _reduce(arguments: _Arguments, operand: _Shape) -> _Shape | None:
    return tuple(extent for axis, extent in enumerate(operand) if axis not in arguments["axes"])


def _are_matrices(a: _Shape, b: _Shape) -> bool:
    """Whether these are the shapes of two matrices, or of two stacks of them."""
    return len(a) == len(b) >= 2


def _matmul(arguments: _Arguments, a: _Shape, b: _Shape) -> _Shape | None:
    lead = _merged(arguments, a[:-2], b[:-2]) if _are_matrices(a, b) else None
    return None if lead is None else (*lead, a[-2], b[-1])


def _gather(arguments: _Arguments, data: _Shape, index: _Shape) -> _Shape | None:
    axis = normal_axis(arguments["axis"], len(data))
    return (*data[:axis], *index, *data[axis + 1 :])


def _topk(arguments: _Arguments, operand: _Shape) -> _Shape | None:
    axis = normal_axis(arguments["axis"], len(operand))
    return (*operand[:axis], arguments["k"], *operand[axis + 1 :])


def _first(arguments: _Arguments, *operands: _Shape) -> _Shape | None:
    return operands[0]


_RULES: dict[str, Callable[..., _Shape | None]] = {
    **dict.fromkeys(("INPUT", "CONST", "IOTA", "RAND", "RESHAPE", "EXPAND", "VIEW"), _stated),
    **dict.fromkeys(("FLIP", "CAST", "SCATTER"), _first),
    "PERMUTE": _permute,
    "PAD": _pad,
    "SHRINK": _shrink,
    "POOL": _pool,
    **dict.fromkeys(REDUCING_UOPS, _reduce),
    "MATMUL": _matmul,
    "GATHER": _gather,
    "TOPK": _topk,
}
