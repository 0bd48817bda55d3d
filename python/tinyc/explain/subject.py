"""What `tinyc explain` speaks of: a Tiny function, its values by name, its IndexBook and its Poly-View."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, cast

from tinyc.analysis.access import DimAxes
from tinyc.analysis.graphs import body_block, main_function, value_names
from tinyc.analysis.index_book.book import Entry, NonScopEntry, index_book
from tinyc.analysis.index_book.splits import splits_of
from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock, PolyItem
from tinyc.analysis.poly.view import PolyView, poly_view, values_of
from tinyc.analysis.tiny_ops import is_stored, producer_of
from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.driver.layer import layer_of
from tinyc.mlir import func, ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import arguments, tensor_type, vocabulary_name


class Line(NamedTuple):
    """A line of the explanation: what it is about, and what holds."""

    title: str
    text: str


@dataclass(frozen=True)
class Subject:
    """A Tiny function; `names` are those of its values."""

    function: func.FuncOp
    names: Mapping[ir.Value, str]

    @classmethod
    def of(cls, module: ir.Module) -> "Subject":
        """The program of a module.

        Raises:
            TinycError: `UnknownLayer`: it is not of the Tiny layer any more.
        """
        layer = layer_of(module)
        if layer != "tiny":
            message = f"the program is at layer '{layer}'; explain it at layer 'tiny', before --tiny-to-region"
            raise TinycError("UnknownLayer", message)
        function = main_function(module)
        return cls(function, value_names(function))

    @functools.cached_property
    def book(self) -> Mapping[str, Entry | NonScopEntry]:
        """The entries of the IndexBook by their values."""
        return {entry.value: entry for entry in index_book(self.function).entries}

    @functools.cached_property
    def values(self) -> Mapping[str, ir.Value]:
        """The values by name; an input also by the id of its node, where no value is called so."""
        inputs = body_block(self.function).arguments
        nodes = {node: each for each in inputs if (node := self.node(each)) is not None}
        names = {name: value for value, name in self.names.items()}
        return {**names, **{node: each for node, each in nodes.items() if node not in names}}

    @functools.cached_property
    def view(self) -> PolyView:
        """The Poly-View."""
        return poly_view(self.function)

    @functools.cached_property
    def computed(self) -> Mapping[str, ir.OpResult]:
        """The values that the items of the view stand for, by the items' names."""
        found = values_of(self.function).items()
        return {name: value for name, value in found if isinstance(value, ir.OpResult) and not is_stored(value)}

    @functools.cached_property
    def blocks(self) -> Mapping[ir.Value, PolyBlock]:
        """The blocks by the values that they compute."""
        return {self.computed[block.name]: block for block in self.view.blocks}

    @functools.cached_property
    def dims(self) -> DimAxes:
        """The axes of the dimensions of a value."""
        return splits_of(self.function).of

    @property
    def constants(self) -> Iterator[str]:
        """The tensors of the program itself, with their types."""
        return (f"{name}: {self.type_of(value)}" for value, name in self.names.items() if is_stored(value))

    @property
    def inputs(self) -> Iterator[str]:
        """The arguments with their types, and their nodes where these have other names."""
        for each in body_block(self.function).arguments:
            node = self.node(each)
            split = ", ".join(self.split(each))
            shown = f", node {node}" if node is not None else ""
            yield f"{self.names[each]}: {self.type_of(each)}{shown}" + (f", {split}" if split else "")

    def value(self, name: str) -> ir.Value:
        """The value called `name`; the name of what stands for it in the view does, too.

        Raises:
            TinycError: `UnknownName`.
        """
        if name not in self.values and name not in self.computed:
            _unknown("value", name, self.values)
        return self.values[name] if name in self.values else self.computed[name]

    def item(self, name: str) -> PolyItem:
        """The block, or the tensor that is none, called `name`; a value's own name does, too.

        Raises:
            TinycError: `UnknownName`.
        """
        found = {item.name: item for item in self.view.items}
        if name in found:
            return found[name]
        tensors = {self.names[value]: found[tensor] for tensor, value in self.computed.items()}
        if name not in tensors:
            self._refuse(name, found)
        return tensors[name]

    def _refuse(self, name: str, known: Iterable[str]) -> NoReturn:
        value = self.values.get(name)
        if value is None:
            _unknown("block", name, known)
        producer = producer_of(value)
        if is_stored(value):
            raise TinycError("UnknownName", f"{name!r} is a constant of the program, which no block computes")
        if producer is None:
            what = "an input" if name == self.names[value] else f"the input {self.names[value]!r}"
            raise TinycError("UnknownName", f"{name!r} is {what}, which no block computes")
        raise TinycError(
            "UnknownName",
            f"{name!r} ({short(producer)}) is not a block: what reads it reads through it, or no output needs it; "
            f"see --access {name}",
        )

    def type_of(self, value: ir.Value) -> str:
        """Element type and shape: `f16 [M, K]`."""
        return str(tensor_type(value.type))

    def place(self, value: ir.Value) -> str:
        """Where a value comes from in the user's program, or nothing."""
        found = _where(value)
        return ":".join(str(part) for part in (found.file, found.line, found.column) if part is not None)

    def split(self, value: ir.Value) -> Iterator[str]:
        """Each dimension of a value that is split in several axes, with their sizes."""
        for number, (size, parts) in enumerate(zip(tensor_type(value.type).shape, self.dims(value), strict=True)):
            if len(parts) > 1:
                yield f"dimension {number} ({size}) is split in axes [{', '.join(map(str, parts))}]"

    def node(self, value: ir.Value) -> str | None:
        """The id of the node that a value comes from in the user's program; None where that is its name."""
        node = _where(value).node
        return None if node == self.names[value] else node

    def summary(self, item: PolyItem) -> str:
        """An item of the view on one line."""
        if isinstance(item, NonScopTensor):
            return f"Non-SCoP: {item.reason}"
        reads = ", ".join(element_text(item.statement, access) for access in item.accesses)
        return f"{kind_of(item)}  {axes_with_sizes(item.statement)}" + (f"  reads {reads}" if reads else "")


def _where(value: ir.Value) -> Where:
    producer = producer_of(value)
    return where(value.location if producer is None else producer.location)


def _unknown(what: str, name: str, known: Iterable[str]) -> NoReturn:
    raise TinycError("UnknownName", f"there is no {what} {name!r}{suggest(name, known)}")


def short(op: ir.OpView) -> str:
    """An op with its arguments: `permute perm=[0, 2, 1]`, `reshape to [M, 1, K]`."""
    found = arguments(op)
    shape = found.pop("shape", None)
    values = {name: value for name, value in found.items() if name not in ("element", "map")}
    shown = [f"{name}={_plain(value)}" for name, value in values.items()]
    return " ".join((vocabulary_name(op), *shown, *([f"to {_plain(shape)}"] if shape is not None else [])))


def _plain(value: object) -> str:
    return f"[{', '.join(map(str, cast(tuple[object, ...], value)))}]" if isinstance(value, tuple) else str(value)


def kind_of(block: PolyBlock) -> str:
    """The computation of a block, in words."""
    facts = block.attributes
    if block.kind == "contraction_pattern":
        form = facts.get("form", "matrix")
        return f"contraction ({facts['pattern']}{'' if form == 'matrix' else ', ' + form})"
    return {
        "reduce": f"reduce {facts.get('op')}",
        "scan": f"scan {facts.get('op')}",
        "movement_affine": "movement",
    }.get(block.kind, str(facts.get("op")))


def axes_with_sizes(statement: Statement) -> str:
    """The axes with their sizes: `m < M, n < N`."""
    pairs = zip(statement.axes, statement.shape, strict=True)
    return ", ".join(f"{axis} < {size}" for axis, size in pairs) or "one element"


def parameters(*statements: Statement) -> Iterator[str]:
    """The meanings of those parameters of statements that have not the name of a symbol: `A_C is A*C`."""
    pairs = dict.fromkeys(pair for statement in statements for pair in statement.parameters)
    return (f"{name} is {extent}" for extent, name in pairs if name != extent)


def element_text(statement: Statement, access: PolyAccess) -> str:
    """The element that an instance reads: `X[m, k]`, with a star where it has guards."""
    rows = ", ".join(statement.affine(row) for row in access.index)
    return f"{access.tensor}[{rows}]" + ("*" if access.guards else "")
