"""A Tiny module to Tiny JSON text, in the spelling of 001 with every default spelled out.

In: a module with one Tiny function. Out: text that `tiny_json.import_program` reads back to the same program (an
assumption that no op relies on has no place in it). Node ids are the results' names, then the name locations, then
`n0, n1, …`; symbolic extents are text, infinities and NaN stand as the standard library writes them. A tensor constant
is a list of its values, or where it is large the name that it has in the file that it comes from.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinyc.analysis.graphs import functions_of, weight_flags
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import Axis
from tinyc.expr.extents import Dim
from tinyc.importers.weights_file import tensor_at
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import arguments, tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elements import TensorValue
from tinyc.vocabulary.types import TensorType

Arg = dict[str, Any]

#: A constant of more elements is not written as a list.
_LARGEST_LIST = 2**16


def dump(module: ir.Module) -> str:
    """The Tiny JSON text of a module.

    Raises:
        TinycError: `InvalidIr` where the module is not one function of Tiny ops.
    """
    found = functions_of(module)
    if len(found) != 1:
        raise TinycError("InvalidIr", f"Tiny JSON holds one function, and the module has {len(found)}; split it")
    with module.context:
        return _Writer(found[0]).text()


class _Names:
    """The ids of values in `src`: they are distinct, and those of the outputs where they must be."""

    def __init__(self, outputs: Sequence[tuple[str, ir.Value]]) -> None:
        self.owners = {name: value for name, value in outputs if name}
        self.wanted = {value: name for name, value in reversed(outputs) if name}
        self.of: dict[ir.Value, str] = {}
        self.taken: set[str] = set()

    def choose(self, results: Sequence[ir.Value], location: ir.Location) -> str:
        """Choose the id of a node: an output's name, the location's, or a new one; return it."""
        located = location.name_str if isinstance(location, ir.NameLoc) else ""
        for name in (self.wanted.get(results[0], ""), located):
            if name and self._is_free(name, results):
                break
        else:
            name = self._fresh(results)
        for full, value in self._results(name, results):
            self.of[value] = full
            self.taken.add(full)
        return name

    def _results(self, name: str, results: Sequence[ir.Value]) -> list[tuple[str, ir.Value]]:
        return [(f"{name}#{number}" if number else name, value) for number, value in enumerate(results)]

    def _is_free(self, name: str, results: Sequence[ir.Value]) -> bool:
        return all(
            full not in self.taken and self.owners.get(full, value) == value
            for full, value in self._results(name, results)
        )

    def _fresh(self, results: Sequence[ir.Value]) -> str:
        number = len(self.of)
        while not self._is_free(f"n{number}", results):
            number += 1
        return f"n{number}"


class _Writer:
    """One function on its way out."""

    def __init__(self, function: func.FuncOp) -> None:
        self.function = function
        *self.ops, terminator = function.regions[0].blocks[0].operations
        self.arguments = list(function.regions[0].blocks[0].arguments)
        returned = list(terminator.operands)
        self.outputs = list(zip(self._attribute_names("res_attrs", len(returned)), returned, strict=True))
        self.names = _Names(self.outputs)
        self.nodes: list[Arg] = []

    def text(self) -> str:
        """The file's text, one node a line."""
        tensor_ids = self._attribute_names("arg_attrs", len(self.arguments))
        for argument, tensor_id in zip(self.arguments, tensor_ids, strict=True):
            name, tensor = self.names.choose([argument], argument.location), tensor_type(argument.type)
            arg = {"tensor_id": tensor_id or name, **_dtype(tensor), "shape": _shape(tensor.shape)}
            arg["weight"] = weight_flags(self.function)[argument.arg_number]
            self._node(name, "INPUT", [], arg)
        for op in self.ops:
            self._op(op)
        outputs = [self._output(name, value) for name, value in self.outputs]
        lines = ",\n".join("    " + json.dumps(node, ensure_ascii=False) for node in self.nodes)
        return f'{{\n  "uops": [\n{lines}\n  ],\n  "outputs": {json.dumps(outputs, ensure_ascii=False)}\n}}\n'

    def _attribute_names(self, which: str, count: int) -> list[str]:
        entries = self.function.attributes.get(which)
        if not isinstance(entries, ir.ArrayAttr):
            return [""] * count
        named = [isinstance(entry, ir.DictAttr) and "tiny.name" in entry and entry["tiny.name"] for entry in entries]
        return [name.value if isinstance(name, ir.StringAttr) else "" for name in named]

    def _node(self, name: str, uop: str, src: list[str], arg: Arg) -> None:
        self.nodes.append({"id": name, "uop": uop, "src": src, "arg": arg})

    def _op(self, op: ir.OpView) -> None:
        if isinstance(op, tiny.AssumeOp):
            return
        if not isinstance(op, tiny.TinyOp):
            raise TinycError("InvalidIr", f"'{op.name}' has no place in Tiny JSON, which holds Tiny ops only")
        kind, values, result = op._op_name, arguments(op), tensor_type(op.results[0].type)
        src = [self.names.of[operand] for operand in op.operands]
        name = self.names.choose(op.results, op.location)
        if isinstance(op, tiny.ExpandOp):
            source = tensor_type(op.operand.type)
            if source.rank == result.rank:
                src, values = self._in_order(name, src, source, values)
        arg = _ARGS[kind](values, result) if kind in _ARGS else {}
        self._node(name, kind.upper(), src, arg)

    def _in_order(self, name: str, src: list[str], source: TensorType, values: Arg) -> tuple[list[str], Arg]:
        """Write an `expand` of equal ranks by the axes that it keeps, after a `PERMUTE` if it also exchanges axes."""
        order = values["broadcast_dimensions"]
        perm = tuple(order.index(axis) for axis in range(len(order)))
        if perm != tuple(range(len(perm))):
            permuted = f"{name}.permute"
            while permuted in self.names.taken or permuted in self.names.owners:
                permuted += "'"
            self.names.taken.add(permuted)
            self._node(permuted, "PERMUTE", src, {"perm": list(perm)})
            src = [permuted]
        kept = tuple(axis for axis, at in enumerate(perm) if source.shape[at] == values["shape"][axis])
        return src, {**values, "broadcast_dimensions": kept}

    def _output(self, name: str, value: ir.Value) -> str:
        """The name of an output; a value that is already called otherwise gets a second name by an identity."""
        known = self.names.of[value]
        if not name or known == name:
            return known
        tensor = tensor_type(value.type)
        identity = tuple(axes.term(Axis(axis)) for axis in range(tensor.rank))
        self._node(name, "VIEW", [known], _view({"map": identity}, tensor))
        return name


def _dtype(tensor: TensorType) -> Arg:
    return {"dtype": tensor.element.json_name}


def _shape(shape: Sequence[Dim]) -> list[int | str]:
    return [extent if isinstance(extent, int) else str(extent) for extent in shape]


def _result_shape(values: Arg, result: TensorType) -> Arg:
    return {"result_shape": _shape(result.shape)}


def _expand(values: Arg, result: TensorType) -> Arg:
    return {"result_shape": _shape(result.shape), "broadcast_dimensions": list(values["broadcast_dimensions"])}


def _pad(values: Arg, result: TensorType) -> Arg:
    return {"pad": [list(pair) for pair in zip(values["lo"], values["hi"], strict=True)], "value": values["value"]}


def _shrink(values: Arg, result: TensorType) -> Arg:
    return {"lo": _shape(values["lo"]), "hi": _shape(values["hi"]), "step": list(values["step"])}


def _view(values: Arg, result: TensorType) -> Arg:
    expressions = [str(row) if row.terms else row.constant for row in values["map"]]
    return {"result_shape": _shape(result.shape), "index_map": {"map": expressions}}


def _leaf(values: Arg, result: TensorType) -> Arg:
    stated = {key: values[key] for key in ("value", "axis", "distribution", "seed", "stream") if key in values}
    stated = {**stated, **_dtype(result), "shape": _shape(result.shape)}
    if isinstance(held := values.get("value"), TensorValue):
        del stated["value"]
        return {**_elements(held.array), **stated}
    return stated


def _elements(array: np.ndarray) -> Arg:
    """A tensor constant as its values, or where it is large as the place in the file that it is mapped from."""
    if array.size <= _LARGEST_LIST:
        numbers = array.astype(np.float64) if array.dtype == ElementType.BF16.dtype else array
        return {"values": numbers.reshape(-1).tolist()}
    path = Path(array.filename) if isinstance(array, np.memmap) and array.filename is not None else None
    name = tensor_at(path, array.offset) if isinstance(array, np.memmap) and path is not None else None
    if path is None or name is None:
        message = f"a constant of {array.size} elements is too large for a list; name it in a weights file"
        raise TinycError("InvalidIr", message)
    return {"file": str(path), "name": name}


def _reduce(values: Arg, result: TensorType) -> Arg:
    return {"op": values["op"].upper(), "axes": list(values["axes"]), **_dtype(result)}


def _scatter(values: Arg, result: TensorType) -> Arg:
    return {"axis": values["axis"], "op": values["op"].upper()}


def _lists(*keys: str) -> Callable[[Arg, TensorType], Arg]:
    return lambda values, result: {key: list(values[key]) for key in keys}


def _numbers(*keys: str) -> Callable[[Arg, TensorType], Arg]:
    return lambda values, result: {key: values[key] for key in keys}


_ARGS: dict[str, Callable[[Arg, TensorType], Arg]] = {
    "reshape": _result_shape,
    "permute": _lists("perm"),
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _lists("axes"),
    "view": _view,
    "pool": _lists("kernel", "stride", "dilation"),
    "reduce": _reduce,
    "cast": lambda values, result: {"to": result.element.json_name},
    **dict.fromkeys(("const", "iota", "rand"), _leaf),
    "gather": _numbers("axis"),
    "scatter": _scatter,
    "topk": _numbers("k", "axis", "largest"),
}
