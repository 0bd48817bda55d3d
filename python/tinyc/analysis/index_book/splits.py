"""How the dimensions of a function's values are split into axes, so that reshapes of symbolic sizes are affine.

A reshape of `[B, S, H*D]` to `[B, S, H, D]` multiplies an axis by the symbol `D`: between dimensions it is not affine.
With the dimension `H*D` split into the axes `H` and `D`, in row-major order, it is the identity. Dimensions that
element-wise ops, permutes and the like put in the same place are one *class*, and are split alike; dimensions that an
op reads in another way (a pad, a window, …) cannot be split and are *fixed*.

In: a function in the Tiny layer, or a kernel. Out: `Splits`, with the reshapes that are not affine all the same, and
why. Splits are found by matching factors, reshape after reshape; what a reshape splits is undone where an earlier one
would not be affine any more, so that the order decides. *Fine* splits are for reshapes by numbers, which are affine as
they are: they become identities between axes as far as they can be, and loops run over the parts of a dimension.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tinyc.analysis.graphs import body_block
from tinyc.analysis.limits import MAX_AXES
from tinyc.analysis.movement import NotAffine, cut, groups, has_numeric_strides
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import ExpandOp, ReduceOp, ReshapeOp
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.factors import quotient
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import arguments, tensor_type, vocabulary_name


@dataclass(frozen=True)
class Splits:
    """The axes of each dimension of the values that have a split one; `faults` says why reshapes are not affine."""

    axes: Mapping[ir.Value, tuple[Shape, ...]]
    faults: Mapping[ir.Value, str]

    def of(self, value: ir.Value) -> tuple[Shape, ...]:
        """The axes of each dimension of `value`, outermost first."""
        found = self.axes.get(value)
        return tuple((size,) for size in tensor_type(value.type).shape) if found is None else found


NO_SPLITS = Splits({}, {})


def splits_of(graph: ir.OpView) -> Splits:
    """How the dimensions of a Tiny graph's values are split; nothing is, where all reshapes are affine as is."""
    reshapes = _reshapes(graph)
    if all(_fault(*_shapes(op)) is None for op in reshapes):
        return NO_SPLITS
    splitter = _Splitter(_classes_of(graph))
    faults: dict[ir.Value, str] = {op.output: reason for op in reshapes if (reason := splitter.add(op)) is not None}
    return Splits(splitter.axes(), faults)


def fine_splits_of(graph: ir.OpView) -> Splits:
    """The fine splits of a function or a kernel: by numbers only, so that code can have the axes as loops."""
    reshapes = _reshapes(graph)
    faults = {op: reason for op in reshapes if (reason := _fault(*_shapes(op))) is not None}
    coarse = [op for op in reshapes if op not in faults and not _is_identity(*_shapes(op))]
    found: dict[ir.Value, str] = {op.output: reason for op, reason in faults.items()}
    if not coarse:
        return Splits({}, found)
    classes = _classes_of(graph)
    for op in faults:
        classes.fix(op)
    splitter = _Splitter(classes)
    for op in coarse:
        splitter.add(op, fine=True)
    return Splits(splitter.axes(), found)


def _reshapes(graph: ir.OpView) -> list[ReshapeOp]:
    return [op for op in body_block(graph).operations if isinstance(op, ReshapeOp)]


def _classes_of(graph: ir.OpView) -> "_Classes":
    classes = _Classes()
    for op in body_block(graph).operations:
        classes.join(op)
    return classes


def _shapes(reshape: ReshapeOp) -> tuple[Shape, Shape]:
    return tensor_type(reshape.operand.type).shape, tensor_type(reshape.output.type).shape


@functools.lru_cache(maxsize=4096)
def _fault(old: Shape, new: Shape) -> str | None:
    """Why a reshape is not affine, or None."""
    try:
        if 0 not in old and 0 not in new:
            groups(old, new)
    except (NotAffine, ExtentError) as error:
        return str(error)
    return None


@functools.lru_cache(maxsize=4096)
def _is_identity(old: Shape, new: Shape) -> bool:
    """Whether a reshape gives each axis, but for those of extent 1, its place among others and changes none."""
    return 0 in old or 0 in new or all(len(a) == len(b) == 1 for a, b in cut(old, new))


class _Classes:
    """Dimensions by number: those of one class have one root, where the class's size and its fixer are noted."""

    def __init__(self) -> None:
        self.of_values: dict[ir.Value, range] = {}
        self._parents: list[int] = []
        self.sizes: list[Dim] = []
        self.fixed: dict[int, str] = {}

    def numbers(self, value: ir.Value) -> range:
        """The numbers of the dimensions of `value`."""
        found = self.of_values.get(value)
        if found is None:
            shape, start = tensor_type(value.type).shape, len(self._parents)
            found = self.of_values[value] = range(start, start + len(shape))
            self._parents += found
            self.sizes += shape
        return found

    def root(self, number: int) -> int:
        """The number that stands for the class of a dimension."""
        while self._parents[number] != number:
            self._parents[number] = number = self._parents[self._parents[number]]
        return number

    def join(self, op: ir.OpView) -> None:
        """Put the dimensions that `op` reads as they are into one class with its result's, and fix the others."""
        if not op.operands or not isinstance(op, tiny.MovementOp | tiny.ElementwiseOp | ReduceOp):
            return
        numbers = self.numbers(op.results[0])
        if isinstance(op, tiny.ElementwiseOp):
            for operand in op.operands:
                for number, result in zip(self.numbers(operand), numbers, strict=True):
                    self._unite(number, result)
            return
        source = self.numbers(op.operands[0])
        same = dict(_same_dimensions(op, [self.sizes[k] for k in source], [self.sizes[k] for k in numbers]))
        for old, new in same.items():
            self._unite(source[old], numbers[new])
        if not isinstance(op, ReshapeOp | ReduceOp | ExpandOp):
            rest = [source[k] for k in range(len(source)) if k not in same]
            rest += [numbers[k] for k in range(len(numbers)) if k not in same.values()]
            self.fixed.update((self.root(number), op.name) for number in rest)

    def fix(self, op: ReshapeOp) -> None:
        """Let no dimension of a reshape be split."""
        numbers = (*self.numbers(op.operand), *self.numbers(op.output))
        self.fixed.update((self.root(number), op.name) for number in numbers)

    def _unite(self, left: int, right: int) -> None:
        left, right = self.root(left), self.root(right)
        if left == right:
            return
        self._parents[right] = left
        if right in self.fixed:
            self.fixed.setdefault(left, self.fixed.pop(right))


def _same_dimensions(op: ir.OpView, operand: list[Dim], result: list[Dim]) -> Iterator[tuple[int, int]]:
    """Yield (k, j) for each dimension k of the operand that a movement or a reduce reads along its dimension j only."""
    kind, values = vocabulary_name(op), arguments(op)
    if kind == "permute":
        yield from ((k, j) for j, k in enumerate(values["perm"]))
    elif kind == "expand":
        yield from ((k, j) for k, j in enumerate(values["broadcast_dimensions"]) if operand[k] == result[j])
    elif kind == "pad":
        yield from ((k, k) for k in range(len(operand)) if values["lo"][k] == values["hi"][k] == 0)
    elif kind == "shrink":
        taken = list(zip(values["lo"], values["hi"], values["step"], strict=True))
        yield from ((k, k) for k, size in enumerate(operand) if taken[k] == (0, size, 1))
    elif kind == "flip":
        yield from ((k, k) for k in range(len(operand)) if k not in values["axes"])
    elif kind == "pool":
        yield from ((k, k) for k in range(len(operand) - len(values["kernel"])))
    elif kind == "reduce":
        yield from ((k, j) for j, k in enumerate(k for k in range(len(operand)) if k not in values["axes"]))
    elif kind == "reshape" and 0 not in operand and 0 not in result:
        parts = cut(tuple(operand), tuple(result))
        pairs = [(old[0], new[0]) for old, new in parts if len(old) == len(new) == 1]
        yield from (pair for pair in pairs if operand[pair[0]] == result[pair[1]])


class _Reshape(NamedTuple):
    """A reshape between the dimensions with these numbers."""

    old: range
    new: range
    fine: bool = False

    def fault(self, old: Shape, new: Shape) -> str | None:
        """Why it is not as it shall be between axes of these sizes, or None."""
        if self.fine and not _is_identity(old, new):
            return "its axes are no identity"
        return _fault(old, new)


class _Splitter:
    """Splits classes, which go by their roots, until the reshapes that were added are affine."""

    def __init__(self, classes: _Classes) -> None:
        self._classes = classes
        self._axes: dict[int, Shape] = {}  # a class that is not there is one axis
        self._before: dict[int, Shape] = {}  # what the reshape that is being added has changed
        self._affine: dict[int, list[_Reshape]] = {}  # the reshapes of a class

    def axes(self) -> dict[ir.Value, tuple[Shape, ...]]:
        """The axes of each dimension of the values that have a split one."""
        found = ((value, self._split_axes(numbers)) for value, numbers in self._classes.of_values.items())
        return {value: axes for value, axes in found if axes is not None}

    def _split_axes(self, numbers: range) -> tuple[Shape, ...] | None:
        """The axes of each of these dimensions, or None where each is one axis."""
        if not any(self._classes.root(number) in self._axes for number in numbers):
            return None
        found = tuple(self._axes_of(number) for number in numbers)
        return found if any(len(axes) > 1 for axes in found) else None

    def add(self, op: ReshapeOp, fine: bool = False) -> str | None:
        """Make a reshape affine by splits that leave the earlier ones affine, or return why it is not.

        With `fine`, an identity instead, as far as the earlier ones stay what they have been made.
        """
        reshape = _Reshape(self._classes.numbers(op.operand), self._classes.numbers(op.output), fine)
        lists = [self._affine.setdefault(root, []) for root in self._roots(reshape)]
        for each in lists:
            each.append(reshape)
        self._before = {}
        pending = [reshape]
        while pending:
            each = pending.pop()
            fault, touched = self._solve(each)
            if fault is not None:
                self._axes.update(self._before)
                for found in lists:
                    found.remove(reshape)
                return fault if each is reshape else f"{fault}, as an earlier reshape has them"
            pending += [other for root in touched for other in self._affine[root] if other is not each]
        return None

    def _solve(self, reshape: _Reshape) -> tuple[str | None, set[int]]:
        """Split until `reshape` is affine; return why it cannot be, and the classes that were split."""
        touched: set[int] = set()
        while (fault := reshape.fault(*self._sides(reshape))) is not None:
            split = next(self._candidates(reshape), None)
            if split is None:
                return f"{fault}{self._fixers(reshape)}", touched
            root, axes = split
            self._before.setdefault(root, self._axes.get(root, (self._classes.sizes[root],)))
            self._axes[root] = axes
            touched.add(root)
        return None, touched

    def _roots(self, reshape: _Reshape) -> list[int]:
        return list(dict.fromkeys(self._classes.root(number) for number in (*reshape.old, *reshape.new)))

    def _axes_of(self, number: int) -> Shape:
        return self._axes.get(self._classes.root(number), (self._classes.sizes[number],))

    def _sides(self, reshape: _Reshape) -> tuple[Shape, Shape]:
        sides = reshape.old, reshape.new
        old, new = (tuple(size for number in side for size in self._axes_of(number)) for side in sides)
        return old, new

    def _candidates(self, reshape: _Reshape) -> Iterator[tuple[int, Shape]]:
        """Yield (class, its axes) for each split of one axis that lets the ends of a part that is not affine match."""
        old_shape, new_shape = self._sides(reshape)
        old_places, new_places = (
            [(number, k) for number in side for k in range(len(self._axes_of(number)))]
            for side in (reshape.old, reshape.new)
        )
        for old, new in cut(old_shape, new_shape):
            is_done = len(old) == len(new) == 1
            if is_done or (
                not reshape.fine and has_numeric_strides([old_shape[k] for k in old], [new_shape[k] for k in new])
            ):
                continue
            for end in (0, -1) if old and new else ():
                yield from self._split(old_places[old[end]], new_shape[new[end]], inner=end == -1)
                yield from self._split(new_places[new[end]], old_shape[old[end]], inner=end == -1)

    def _split(self, place: tuple[int, int], by: Dim, inner: bool) -> Iterator[tuple[int, Shape]]:
        """The split of an axis of a dimension in two, `by` being the inner or the outer one."""
        number, position = place
        root, axes = self._classes.root(number), self._axes_of(number)
        if root in self._classes.fixed or len(axes) >= MAX_AXES:
            return
        rest = quotient(axes[position], by)
        if rest not in (None, 1):
            yield root, (*axes[:position], *((rest, by) if inner else (by, rest)), *axes[position + 1 :])

    def _fixers(self, reshape: _Reshape) -> str:
        """Which ops keep the axes of a reshape from being split."""
        fixed = (self._classes.fixed.get(root) for root in self._roots(reshape))
        names = ", ".join(dict.fromkeys(f"'{name}'" for name in fixed if name))
        return f"; they cannot be split, because {names} reads them as a whole" if names else ""
