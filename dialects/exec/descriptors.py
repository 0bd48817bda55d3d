"""Memrefs out of bare addresses: a kernel function takes plain pointers, and makes its loops' memrefs itself.

In: a function over memrefs, as --region-to-loops makes it, and its launch contract. Out: the same function over
`!llvm.ptr`s that alias nothing. As bare pointers they can say so (the `noalias` that LLVM vectorises by), which memref
arguments cannot; and whoever calls the function needs to know no shapes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.analysis import extents
from tinyc.analysis.extents import Dim, Extent
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec.extent_code import ExtentCode
from tinyc.dialects.tiny.types import size_bytes
from tinyc.mlir import arith, ir, memref
from tinyc.runtime.program import STATUS_WORDS, Kernel


def take_bare_pointers(function: Any, kernel: Kernel) -> None:
    """Change the memref arguments of `function` into pointers.

    Raises:
        TinycError: `InvalidIr`: its arguments are not those of the launch contract.
    """
    shapes = [*(pointer.shape for pointer in kernel.pointers), *([(STATUS_WORDS,)] if kernel.status else [])]
    _check_arguments(function, kernel, shapes)
    block, pointer = function.regions[0].blocks[0], ir.Type.parse("!llvm.ptr")
    old = list(block.arguments)
    types = [pointer if position < len(shapes) else argument.type for position, argument in enumerate(old)]
    new = [block.add_argument(kind, function.location) for kind in types]
    with ir.InsertionPoint.at_block_begin(block), function.location:
        code = ExtentCode(_symbols(kernel, new[len(shapes) :]))
        types_in_memory = [_in_memory(argument.type) for argument in old[: len(shapes)]]
        memrefs = [_memref(*each, code) for each in zip(new, types_in_memory, shapes, strict=False)]
    for argument, value in zip(old, [*memrefs, *new[len(shapes) :]], strict=True):
        if argument.type == value.type or isinstance(argument.type, ir.IndexType):
            argument.replace_all_uses_with(value)
        else:
            _access_bits(argument, value)
    for _ in old:
        block.erase_argument(0)
    attributes = function.operation.attributes
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    no_alias = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    attributes["arg_attrs"] = ir.ArrayAttr.get([no_alias if t == pointer else ir.DictAttr.get({}) for t in types])


def _in_memory(kind: Any) -> Any:
    """Return the memref type of a buffer's memory: 16-bit floats are their bits.

    A CPU without instructions for such a type would call a library function to move one from a register to memory.
    """
    if str(kind.element_type) not in ("f16", "bf16"):
        return kind
    return ir.MemRefType.get(kind.shape, ir.IntegerType.get_signless(16))


def _access_bits(floats: Any, bits: Any) -> None:
    """Turn the loads and stores of a memref of 16-bit floats into those of a memref of their bits."""
    for use in list(floats.uses):
        op = use.owner.operation
        with ir.InsertionPoint(op), op.location:
            if op.name == "memref.load":
                loaded = memref.load(bits, list(op.operands)[1:])
                op.results[0].replace_all_uses_with(arith.bitcast(op.results[0].type, loaded))
            else:
                stored = arith.bitcast(bits.type.element_type, op.operands[0])
                memref.store(stored, bits, list(op.operands)[2:])
        op.erase()


def _check_arguments(function: Any, kernel: Kernel, shapes: Sequence[tuple[Dim, ...]]) -> None:
    """Compare with the contract: memrefs of its shapes, then an index for each extent and two for the range."""
    found = list(function.regions[0].blocks[0].arguments)
    indices = len(kernel.extents) + 2
    agrees = len(found) == len(shapes) + indices
    agrees = agrees and all(isinstance(argument.type, ir.IndexType) for argument in found[len(shapes) :])
    agrees = agrees and all(_holds(argument.type, shape) for argument, shape in zip(found, shapes, strict=False))
    agrees = agrees and all(
        argument.type.element_type.width == 8 * size_bytes(pointer.element)
        for argument, pointer in zip(found, kernel.pointers, strict=False)
    )
    if not agrees:
        raise TinycError(
            "InvalidIr",
            f"the function takes {', '.join(str(argument.type) for argument in found)}; its launch contract asks for "
            f"{_contract(kernel)} and {indices} indices; run --region-to-loops on the kernels of --region-to-exec",
            Where(node=kernel.symbol),
        )


def _contract(kernel: Kernel) -> str:
    pointers = [f"{pointer.element} [{', '.join(map(str, pointer.shape))}]" for pointer in kernel.pointers]
    return ", ".join([*pointers, *(["a status buffer"] if kernel.status else [])])


def _holds(kind: Any, shape: tuple[Dim, ...]) -> bool:
    if not isinstance(kind, ir.MemRefType) or kind.rank != len(shape):
        return False
    dynamic = ir.ShapedType.get_dynamic_size()
    return list(kind.shape) == [dynamic if isinstance(extent, Extent) else extent for extent in shape]


def _symbols(kernel: Kernel, indices: list[Any]) -> Mapping[str, Any]:
    """Return the i64 values of the symbols that are parameters."""
    i64 = ir.IntegerType.get_signless(64)
    symbols = {}
    for extent, index in zip(kernel.extents, indices, strict=False):
        names = extents.symbols(extent)
        if names and extent == extents.symbol(names[0]):
            symbols[names[0]] = arith.index_cast(i64, index)
    needed = {name for pointer in kernel.pointers for extent in pointer.shape for name in extents.symbols(extent)}
    missing = needed.difference(symbols)
    if missing:
        raise TinycError(
            "InvalidIr",
            f"the shapes of the parameters have the symbols {', '.join(sorted(missing))}, which are no parameters; add "
            "#exec.extent<…> for each",
            Where(node=kernel.symbol),
        )
    return symbols


def _memref(address: Any, memref_type: Any, shape: tuple[Dim, ...], code: ExtentCode) -> Any:
    """Return the dense row-major memref at `address`."""
    rank = len(shape)
    arrays = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
    struct = ir.Type.parse(f"!llvm.struct<(ptr, ptr, i64{arrays})>")
    descriptor = mlir.llvm.mlir_poison(struct)
    strides = extents.row_major_strides(shape)
    fields: list[tuple[list[int], Any]] = [([0], address), ([1], address), ([2], code.value(0))]
    fields += [([3, axis], code.value(extent)) for axis, extent in enumerate(shape)]
    fields += [([4, axis], code.value(stride)) for axis, stride in enumerate(strides)]
    for position, value in fields:
        descriptor = mlir.llvm.insertvalue(descriptor, value, ir.DenseI64ArrayAttr.get(position))
    return ir.Operation.create("builtin.unrealized_conversion_cast", [memref_type], [descriptor]).results[0]
