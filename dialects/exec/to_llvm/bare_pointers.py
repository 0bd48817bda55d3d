"""Memrefs out of bare addresses: a kernel function takes plain pointers, and makes its loops' memrefs itself.

In: a function over memrefs, as --region-to-loops makes it, and its launch contract. Out: the same function over
`!llvm.ptr`s that alias nothing: of two that are the same, where a launch writes in place, only that of what is written
is used. As bare pointers they can say so (the `noalias` that LLVM vectorises by), which memref arguments cannot; and
whoever calls the function needs to know no shapes.
"""

from collections.abc import Mapping, Sequence

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.codegen.index_code import CachedIndexCode
from tinyc.codegen.places import flat_view
from tinyc.diagnostics import TinycError, Where
from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent
from tinyc.mlir import arith, builtin, func, ir, memref, vector
from tinyc.mlir.constants import number
from tinyc.mlir.locations import unnamed, where
from tinyc.runtime.program import STATUS_WORDS, KernelLaunch


def take_bare_pointers(function: func.FuncOp, kernel: KernelLaunch) -> None:
    """Change the memref arguments of `function` into pointers.

    Raises:
        TinycError: `InvalidIr`: its arguments are not those of the launch contract, or 16-bit floats are not accessed
            by loads and stores.
    """
    shapes = [*(pointer.shape for pointer in kernel.pointers), *([(STATUS_WORDS,)] if kernel.status else [])]
    _check_arguments(function, kernel, shapes)
    block, pointer = function.body.blocks[0], ir.Type.parse("!llvm.ptr")
    old = list(block.arguments)
    overwritten = kernel.overwritten
    types = [pointer if position < len(shapes) else argument.type for position, argument in enumerate(old)]
    new = [block.add_argument(kind, argument.location) for kind, argument in zip(types, old, strict=True)]
    with ir.InsertionPoint.at_block_begin(block), unnamed(function.location):
        code = CachedIndexCode(ir.IntegerType.get_signless(64), _symbols(kernel, new[len(shapes) :]))
        memrefs = [
            _memref_at(new[overwritten.get(number, number)], _in_memory(ir.MemRefType(argument.type)), shape, code)
            for number, (argument, shape) in enumerate(zip(old, shapes, strict=False))
        ]
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


def _in_memory(kind: ir.MemRefType) -> ir.MemRefType:
    """The memref type of a buffer's memory: 16-bit floats are their bits.

    A CPU without instructions for such a type would call a library function to move one from a register to memory.
    """
    if not isinstance(kind.element_type, ir.F16Type | ir.BF16Type):
        return kind
    return ir.MemRefType.get(kind.shape, ir.IntegerType.get_signless(16))


def _access_bits(floats: ir.Value, bits: ir.Value) -> None:
    """Turn the accesses to a memref of 16-bit floats and to its views into those to a memref of their bits.

    Raises:
        TinycError: `InvalidIr`: there is one of another kind.
    """
    i16 = ir.IntegerType.get_signless(16)
    for use in list(floats.uses):
        op = use.owner
        with ir.InsertionPoint(op), op.location:
            match op:
                case memref.LoadOp():
                    loaded = memref.load(bits, list(op.indices))
                    op.result.replace_all_uses_with(arith.bitcast(op.result.type, loaded))
                case memref.StoreOp():
                    memref.store(arith.bitcast(i16, op.value), bits, list(op.indices))
                case vector.LoadOp():
                    lanes = ir.VectorType(op.result.type).shape
                    loaded = vector.load(ir.VectorType.get(lanes, i16), bits, list(op.indices))
                    op.result.replace_all_uses_with(vector.bitcast(op.result.type, loaded))
                case memref.ExtractAlignedPointerAsIndexOp():
                    op.result.replace_all_uses_with(memref.extract_aligned_pointer_as_index(bits))
                case memref.PrefetchOp():
                    op.operation.operands[use.operand_number] = bits
                    continue
                case memref.CastOp():
                    _access_bits(op.result, bits)
                case memref.ReinterpretCastOp():
                    static = op.attributes["static_sizes"]
                    assert isinstance(static, ir.DenseI64ArrayAttr)
                    size = op.sizes[0] if len(op.sizes) else number(static[0], ir.IndexType.get())
                    _access_bits(op.result, flat_view(bits, size))
                case _:
                    message = (
                        f"'{op.operation.name}' takes a memref of 16-bit floats, which lie in memory as their bits"
                    )
                    raise TinycError("InvalidIr", f"{message}; load and store elements of it", where(op.location))
        op.erase()


def _check_arguments(function: func.FuncOp, kernel: KernelLaunch, shapes: Sequence[tuple[Dim, ...]]) -> None:
    """Compare with the contract: memrefs of its shapes, then an index for each extent and two for the range."""
    found = list(function.arguments)
    indices = len(kernel.extents) + 2
    widths = [8 * pointer.element.size_bytes for pointer in kernel.pointers]
    agrees = (
        len(found) == len(shapes) + indices
        and all(isinstance(argument.type, ir.IndexType) for argument in found[len(shapes) :])
        and all(_holds(argument.type, shape) for argument, shape in zip(found, shapes, strict=False))
        and all(_has_width(argument.type, width) for argument, width in zip(found, widths, strict=False))
    )
    if not agrees:
        raise TinycError(
            "InvalidIr",
            f"the function takes {', '.join(str(argument.type) for argument in found)}; its launch contract asks for "
            f"{_contract(kernel)} and {indices} indices; run --region-to-loops on the kernels of --region-to-exec",
            Where(node=kernel.symbol),
        )


def _contract(kernel: KernelLaunch) -> str:
    pointers = [f"{pointer.element} [{', '.join(map(str, pointer.shape))}]" for pointer in kernel.pointers]
    return ", ".join([*pointers, *(["a status buffer"] if kernel.status else [])])


def _holds(kind: ir.Type, shape: tuple[Dim, ...]) -> bool:
    if not isinstance(kind, ir.MemRefType) or kind.rank != len(shape):
        return False
    dynamic = ir.ShapedType.get_dynamic_size()
    return list(kind.shape) == [dynamic if isinstance(extent, Extent) else extent for extent in shape]


def _has_width(kind: ir.Type, bits: int) -> bool:
    element = kind.element_type if isinstance(kind, ir.MemRefType) else None
    return isinstance(element, ir.IntegerType | ir.FloatType) and element.width == bits


def _symbols(kernel: KernelLaunch, indices: Sequence[ir.Value]) -> Mapping[str, ir.Value]:
    """The i64 values of the symbols that are parameters."""
    i64 = ir.IntegerType.get_signless(64)
    symbols: dict[str, ir.Value] = {}
    for extent, index in zip(kernel.extents, indices, strict=False):
        names = extents.symbols(extent)
        if names and extent == extents.symbol(names[0]):
            symbols[names[0]] = arith.index_cast(i64, index)
    needed = {name for pointer in kernel.pointers for extent in pointer.shape for name in extents.symbols(extent)}
    missing = needed.difference(symbols)
    if missing:
        raise TinycError(
            "InvalidIr",
            f"the shapes of the parameters have the symbols {', '.join(sorted(missing))}, which are not parameters; "
            "add #exec.extent<…> for each",
            Where(node=kernel.symbol),
        )
    return symbols


def _memref_at(
    address: ir.Value, memref_type: ir.MemRefType, shape: tuple[Dim, ...], code: CachedIndexCode
) -> ir.Value:
    """The dense row-major memref at `address`."""
    rank = len(shape)
    arrays = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
    struct = ir.Type.parse(f"!llvm.struct<(ptr, ptr, i64{arrays})>")
    descriptor = mlir.llvm.mlir_poison(struct)
    strides = extents.row_major_strides(shape)
    fields: list[tuple[list[int], ir.Value]] = [([0], address), ([1], address), ([2], code.of(0))]
    fields += [([3, axis], code.of(extent)) for axis, extent in enumerate(shape)]
    fields += [([4, axis], code.of(stride)) for axis, stride in enumerate(strides)]
    for position, value in fields:
        descriptor = mlir.llvm.insertvalue(descriptor, value, ir.DenseI64ArrayAttr.get(position))
    return builtin.UnrealizedConversionCastOp([memref_type], [descriptor]).results[0]
