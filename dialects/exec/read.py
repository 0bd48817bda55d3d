"""What each attribute of the Exec layer means: ops and attributes as the plain data of `runtime.program`.

In: an op of the layer. Out: frozen data without MLIR. The verifier, the lowering to LLVM and `to_program` read
the layer through these functions, so the meaning is written down once.
"""

from collections.abc import Iterator
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.ops import ExtentAttr, PtrAttr, StatusAttr
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.mlir import ir
from tinyc.runtime.program import Assumption, Buffer, ExtentValue, Grid, Kernel, Parameter, Pointer, Program, Status
from tinyc.text import where

KINDS = ("input", "output", "arena")
MEMORY_SPACES = ("host", "device")
PREDICATES = ("eq", "le")


def exec_functions(module: Any) -> list[Any]:
    """Return the `exec.function`s of `module`."""
    return [op for op in module.body.operations if op.operation.name == "exec.function"]


def function_of(op: Any) -> Program:
    """Return what an `exec.function` says, with everything in its body."""
    attributes = op.operation.attributes
    return Program(
        name=text(attributes, "sym_name"),
        symbols=texts(attributes, "symbols"),
        inputs=texts(attributes, "inputs"),
        outputs=texts(attributes, "outputs"),
        assumptions=tuple(assumption_of(each) for each in body(op, "exec.assume")),
        buffers=tuple(buffer_of(each) for each in body(op, "exec.buffer")),
        kernels=tuple(kernel_of(each) for each in body(op, "exec.kernel")),
        arena_bytes=extent(attributes, "arena_bytes"),
    )


def body(op: Any, name: str) -> Iterator[Any]:
    """Yield the ops called `name` in the body of an `exec.function`."""
    for block in op.operation.regions[0].blocks:
        yield from (each for each in block.operations if each.operation.name == name)


def assumption_of(op: Any) -> Assumption:
    """Return what an `exec.assume` says."""
    attributes = op.operation.attributes
    return Assumption(extent(attributes, "lhs"), one_of(attributes, "predicate", PREDICATES), extent(attributes, "rhs"))


def buffer_of(op: Any) -> Buffer:
    """Return what an `exec.buffer` says."""
    attributes = op.operation.attributes
    element, shape = _tensor(attributes["tensor"])
    return Buffer(
        name=text(attributes, "buffer"),
        kind=one_of(attributes, "kind", KINDS),
        memory_space=one_of(attributes, "memory_space", MEMORY_SPACES),
        offset=extent(attributes, "offset"),
        size=extent(attributes, "size"),
        element=element,
        shape=shape,
    )


def kernel_of(op: Any) -> Kernel:
    """Return what an `exec.kernel` says."""
    attributes = op.operation.attributes
    symbol = attributes["symbol"]
    if not isinstance(symbol, ir.FlatSymbolRefAttr):
        raise TinycError("InvalidAttribute", f"'symbol' is {symbol}; it must name a kernel, @name")
    generation = extent(attributes, "generation")
    if not isinstance(generation, int) or generation < 0:
        raise TinycError("InvalidAttribute", f"'generation' is {generation}; it must be 0, 1, …")
    return Kernel(
        symbol=symbol.value,
        generation=generation,
        grid=_grid(attributes, "grid"),
        block=_grid(attributes, "block"),
        cluster=_grid(attributes, "cluster"),
        dynamic_shared_bytes=extent(attributes, "dynamic_shared_bytes"),
        parameters=tuple(_parameter(each) for each in array(attributes, "parameters")),
        reads=texts(attributes, "reads"),
        writes=texts(attributes, "writes"),
        where=where(op.location),
    )


def _parameter(attribute: Any) -> Parameter:
    if isinstance(attribute, PtrAttr):
        name, tensor = (each.maybe_downcast() for each in attribute.params)
        if isinstance(name, ir.StringAttr):
            return Pointer(name.value, *_tensor(tensor))
    elif isinstance(attribute, StatusAttr):
        slot = attribute.params[0].maybe_downcast()
        if isinstance(slot, ir.IntegerAttr) and slot.value >= 0:
            return Status(slot.value)
    elif isinstance(attribute, ExtentAttr):
        return ExtentValue(_extent("parameters", attribute.params[0].maybe_downcast()))
    raise TinycError(
        "InvalidAttribute",
        f'parameter {attribute} is not one of #exec.ptr<"buffer", tensor<…>>, #exec.status<slot>, #exec.extent<…>',
    )


def _tensor(attribute: Any) -> tuple[str, tuple[Dim, ...]]:
    if not isinstance(attribute, ir.TypeAttr):
        raise TinycError("InvalidAttribute", f"{attribute} is not a tensor type")
    tensor = tensor_type(attribute.value)
    return tensor.element, tensor.shape


def _grid(attributes: Any, name: str) -> Grid:
    sizes = tuple(_extent(name, each) for each in array(attributes, name))
    if len(sizes) != 3:
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; it must have three extents, x y z")
    return sizes[0], sizes[1], sizes[2]


def text(attributes: Any, name: str) -> str:
    """Return a string attribute."""
    attribute = attributes[name]
    if not isinstance(attribute, ir.StringAttr) or not attribute.value:
        raise TinycError("InvalidAttribute", f"'{name}' is {attribute}; it must be a string, and not empty")
    return attribute.value


def one_of(attributes: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Return a string attribute that is one of a few words."""
    value = text(attributes, name)
    if value not in allowed:
        raise TinycError("InvalidAttribute", f"'{name}' is {value!r}; it must be {' or '.join(map(repr, allowed))}")
    return value


def array(attributes: Any, name: str) -> list[Any]:
    """Return an array attribute."""
    attribute = attributes[name]
    if not isinstance(attribute, ir.ArrayAttr):
        raise TinycError("InvalidAttribute", f"'{name}' is {attribute}; it must be an array, […]")
    return list(attribute)


def texts(attributes: Any, name: str) -> tuple[str, ...]:
    """Return an array of strings, no two alike."""
    entries = array(attributes, name)
    if not all(isinstance(entry, ir.StringAttr) and entry.value for entry in entries):
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; it must be an array of strings")
    names = tuple(entry.value for entry in entries)
    if len(set(names)) != len(names):
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; it names something twice")
    return names


def extent(attributes: Any, name: str) -> Dim:
    """Return an extent: an integer, or canonical text."""
    return _extent(name, attributes[name])


def _extent(name: str, attribute: Any) -> Dim:
    if isinstance(attribute, ir.IntegerAttr) and not isinstance(attribute, ir.BoolAttr):
        return attribute.value
    if not isinstance(attribute, ir.StringAttr):
        raise TinycError("InvalidExtent", f"'{name}' is {attribute}; it must be an integer or an extent, \"4*M\"")
    try:
        value = extents.parse(attribute.value)
    except ExtentError as error:
        raise TinycError("InvalidExtent", f"'{name}': {error}") from None
    if isinstance(value, int) or str(value) != attribute.value:
        canonical = value if isinstance(value, int) else f'"{value}"'
        raise TinycError("InvalidExtent", f"'{name}' is {attribute}, which is not canonical; write {canonical}")
    return value
