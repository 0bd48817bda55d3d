"""The same kernel as one sequential function of the host: what a CUDA file checks its kernel against.

In: a `gpu.func` of statements. Out: a `func.func` with the same arguments, buffers being 1-D memrefs of the host, that
computes the outputs one element after the other. It has no tiles; a sum takes its terms in the kernel's order.
"""

from typing import Any

from tinyc.codegen import scalars, scatter_update, top_k
from tinyc.codegen.elements import Index
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.bodies import loaded_value, only, outputs_of, store
from tinyc.dialects.gpu.flat_elements import FlatElements
from tinyc.dialects.gpu.naive_tile import multiply_add
from tinyc.dialects.gpu.signature import signature_of
from tinyc.dialects.region.verify import block_of, yields_of
from tinyc.dialects.tiny.attributes import decode, tensor_type
from tinyc.mlir import func, ir, nested, passmanager
from tinyc.text import where

SUFFIX = "_reference"


def reference_of(function: Any) -> Any:
    """Create the sequential form of a kernel at the insertion point, and return it.

    Raises:
        TinycError: `InvalidIr`: it has several products.
    """
    signature = signature_of(function)
    types = signature.flat_types(None)
    name = function.operation.attributes["sym_name"].value + SUFFIX
    with function.operation.location:
        created = func.FuncOp(name, (types, []))
        created.operation.attributes["arg_attrs"] = signature.flat_attributes()
        block = created.add_entry_block()
        values = list(block.arguments)
        with ir.InsertionPoint(block):
            elements = FlatElements(signature.buffers(values), signature.symbols(values), signature.status(values))
            _compute(elements, _Statements(function))
            func.ReturnOp([])
    passmanager.PassManager.parse("func.func(cse,loop-invariant-code-motion,cse)").run(created.operation)
    return created


class _Statements:
    """The statements of a kernel, those in loops too."""

    def __init__(self, function: Any) -> None:
        self.kernel = function.operation
        self.ops = nested(function)

    def named(self, name: str) -> list[Any]:
        """Return those of one kind."""
        return [op for op in self.ops if op.name == name]

    def one(self, name: str, ring: Any = None) -> Any:
        """Return the one of its kind, or the one that fills a ring of tiles."""
        found = [op for op in self.named(name) if ring is None or op.operands[0] == ring]
        if len(found) != 1:
            kernel = self.kernel.attributes["sym_name"].value
            what = f"{len(found)} '{name}'{' of one ring' if ring is not None else ''}"
            message = f"@{kernel} has {what}, and a CUDA file checks kernels of one product; print it without its host"
            raise TinycError("InvalidIr", message, where(self.kernel.location))
        return found[0]


def _compute(elements: FlatElements, statements: _Statements) -> None:
    if statements.named("tgpu.fma"):
        _contraction(elements, statements)
    for op in statements.named("tgpu.map"):
        _map(elements, op)
    for op in statements.named("tgpu.topk"):
        _topk(elements, op)
    for op in statements.named("tgpu.scatter_add"):
        _updates(elements, op)


def _contraction(elements: FlatElements, statements: _Statements) -> None:
    """Compute each element of the outputs from one sum."""
    fma, epilogue = statements.one("tgpu.fma"), statements.one("tgpu.epilogue")
    lhs, rhs = (statements.one("tgpu.load_tile", ring) for ring in list(fma.operands)[:2])
    (argument,) = block_of(epilogue).arguments
    result = tensor_type(argument.type)
    accumulator = tensor_type(fma.results[0].type.params[0].maybe_downcast().value).element
    factors = [loaded_value(op) for op in (lhs, rhs)]
    shape, summed = tensor_type(factors[0].type).shape, _axes(lhs, "columns")
    kept = {"rows": _axes(lhs, "rows"), "columns": _axes(rhs, "columns"), "batches": _axes(lhs, "batches")}
    with elements.loops(result.shape) as index:
        joint = [elements.index(0) for _ in shape]
        for side, axes in kept.items():
            for axis, own in zip(axes, _axes(epilogue, side), strict=True):
                joint[axis] = index[own]

        def step(reduction: Index, so_far: list[Any]) -> list[Any]:
            at = tuple(reduction[summed.index(axis)] if axis in summed else joint[axis] for axis in range(len(shape)))
            terms = [
                scalars.cast(elements.at(factor, at), tensor_type(factor.type).element, accumulator)
                for factor in factors
            ]
            return [multiply_add(accumulator, terms[0], terms[1], so_far[0])]

        (total,) = elements.carried([shape[axis] for axis in summed], [scalars.constant(accumulator, 0)], step)
        finished = scalars.cast(total, accumulator, result.element)
        elements.reduced[argument] = lambda _: finished
        store(elements, yields_of(epilogue), index)


def _axes(op: Any, side: str) -> tuple[int, ...]:
    return decode(op.attributes[side])


def _map(elements: FlatElements, op: Any) -> None:
    """Compute each element of the outputs by itself; updates that set are put in order, over the data."""
    for yielding in yields_of(op):
        value, output = yielding.operation.operands
        producer = value.owner.operation
        scatters = producer.name == "tiny.scatter"
        with elements.loops(tensor_type(value.type).shape) as index:
            elements.store(output, index, elements.at(producer.operands[0] if scatters else value, index))
        if scatters:
            _updates(elements, op)


def _updates(elements: FlatElements, op: Any) -> None:
    """Put or add the updates of a scatter in order."""
    scatter = only(op, "tiny.scatter")
    (output,) = outputs_of(op).values()
    with elements.loops(tensor_type(scatter.operation.operands[2].type).shape) as index:
        scatter_update.write(elements, scatter, index, output)


def _topk(elements: FlatElements, op: Any) -> None:
    search = only(op, "tiny.topk")
    with elements.loops(top_k.lanes(search)) as lane:
        top_k.write(elements, search, lane, outputs_of(op))
