"""What holds in the GPU layer: of each statement (`verify_statements`), and of the kernels with their arguments."""

import math
import re
from collections.abc import Iterator
from typing import Any

from tinyc.analysis import extents
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu import verify_statements
from tinyc.dialects.gpu.ops import AccType, SmemType
from tinyc.dialects.region.ops import MemRefType, held_tensor
from tinyc.dialects.region.verify import CHECKED, Malformed, block_of, broken_rule
from tinyc.dialects.tiny.attributes import arguments, decode, extents_attribute, tensor_type
from tinyc.dialects.tiny.op_verifier import declared_fields_error
from tinyc.dialects.tiny.types import TensorType, size_bytes, symbols_of
from tinyc.mlir import ir, nested
from tinyc.plan import attribute as plan_attribute
from tinyc.plan.validate_tile import MICRO
from tinyc.runtime.program import STATUS_WORDS

#: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same from 5.0 to 9.0.
THREADS_PER_BLOCK = (1024, 1024, 64)
#: The same, "Shared Memory": without opting in to more.
SHARED_BYTES_PER_BLOCK = 48 * 1024
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
#: What may stand beside statements, and around them.
_AROUND = ("gpu.thread_id", "gpu.block_id", "gpu.grid_dim", "gpu.block_dim", "gpu.barrier", "gpu.return", "scf.yield")


def report_op(op: Any) -> bool:
    """Report what is wrong with one op of the layer at its location; return whether nothing is."""
    message = declared_fields_error(op)
    if message is None:
        with op.operation.context:
            message = broken_rule(verify_statements.check, op.operation)
        message = message and f"'{op.operation.name}' {message}"
    if message is None:
        return True
    op.location.emit_error(message)
    return False


def verify(module: Any) -> bool:
    """Check every kernel of the layer; report each violation at its op and return whether there was none."""
    found = list(violations(module))
    for location, message in found:
        location.emit_error(message)
    return not found


def violations(module: Any) -> Iterator[tuple[Any, str]]:
    """Yield (location, message) for each violation in `module`."""
    modules = [op for op in module.body.operations if op.operation.name == "gpu.module"]
    if len(modules) > 1:
        yield modules[1].location, "'gpu.module' is the second one; the kernels of a program are one module"
    launched = _launched(module)
    for each in modules:
        functions = [op for op in each.operation.regions[0].blocks[0].operations if op.operation.name == "gpu.func"]
        by_name = {function.operation.attributes["sym_name"].value: function for function in functions}
        for name, function in by_name.items():
            message = broken_rule(_check_kernel, function, by_name, name in launched)
            if message is not None:
                yield function.location, f"'gpu.func' @{name} {message}"


def _launched(module: Any) -> set[str]:
    """Return the names of what the host function launches."""
    hosts = (op for op in module.body.operations if op.operation.name == "func.func")
    ops = (op.operation for host in hosts for block in host.operation.regions[0].blocks for op in block.operations)
    symbols = (op.attributes["kernel"] for op in ops if op.name == "region.launch")
    return {symbol.value for symbol in symbols if isinstance(symbol, ir.FlatSymbolRefAttr)}


def _check_kernel(function: Any, by_name: dict[str, Any], launched: bool) -> None:
    attributes = function.operation.attributes
    if "kernel" not in attributes:
        raise Malformed("is no kernel; the layer has no functions to call")
    if not _IDENTIFIER.fullmatch(attributes["sym_name"].value):
        raise Malformed("is no name in PTX; use letters, digits and '_', a letter first")
    _check_block(attributes)
    symbols = _check_arguments(function)
    if launched or "tgpu.grid" in attributes:
        _check_grid(attributes, symbols)
    _check_tiles(function, list(attributes["known_block_size"]))
    if "tgpu.plan" in attributes:
        _check_plan(attributes["tgpu.plan"])
    if "tgpu.init" in attributes:
        _check_init(function, by_name)


def _check_plan(given: Any) -> None:
    try:
        plan_attribute.parse(given)
    except TinycError as error:
        raise Malformed(f"has tgpu.plan = {given}, which is no plan: {error.message}") from None


def _check_block(attributes: Any) -> None:
    size: Any = attributes.get("known_block_size")
    if not isinstance(size, ir.DenseI32ArrayAttr) or len(size) != 3:
        raise Malformed(f"has known_block_size = {size}; it must be the block's threads, array<i32: x, y, z>")
    threads = list(size)
    within = all(1 <= count <= limit for count, limit in zip(threads, THREADS_PER_BLOCK, strict=True))
    if not within or math.prod(threads) > THREADS_PER_BLOCK[0]:
        raise Malformed(f"has a block of {threads} threads; at most 1024 in all, and 64 along z")


def _check_grid(attributes: Any, symbols: list[str]) -> None:
    grid: Any = attributes.get("tgpu.grid")
    if not isinstance(grid, ir.ArrayAttr) or len(grid) != 3:
        raise Malformed(f'has tgpu.grid = {grid}; it must be the blocks along x, y and z, [1, "M", 1]')
    blocks = decode(grid)
    if extents_attribute(blocks) != grid:
        raise Malformed(f"has tgpu.grid = {grid}, which is not canonical; write {extents_attribute(blocks)}")
    _require_known(blocks, symbols, "its grid")
    if any(isinstance(count, int) and count < 0 for count in blocks):
        raise Malformed(f"has a grid of {list(blocks)} blocks")


def _check_tiles(function: Any, threads: list[int]) -> None:
    """Check that each thread of a block has the same sums, 2 × 2 at a time, and that the rings fit shared memory."""
    sizes = []
    for op in nested(function):
        if op.name == "tgpu.alloc_smem":
            tile, stages = (parameter.maybe_downcast() for parameter in op.results[0].type.params)
            size = size_bytes(tensor_type(tile.value).element)
            sizes.append(math.prod(tile.value.shape) * size * stages.value)
        elif op.name == "tgpu.zero":
            rows, columns = op.results[0].type.params[0].maybe_downcast().value.shape
            if rows % (MICRO * threads[1]) or columns % (MICRO * threads[0]) or threads[2] != 1:
                raise Malformed(
                    f"has {rows} × {columns} sums for a block of {threads} threads; each has {MICRO} × {MICRO} "
                    "of them, or several times that"
                )
    if sum(sizes) > SHARED_BYTES_PER_BLOCK:
        raise Malformed(f"has {sum(sizes)} bytes of shared memory; a block has {SHARED_BYTES_PER_BLOCK}")


def _require_known(dims: Any, symbols: list[str], what: str) -> None:
    missing = [name for dim in dims for name in extents.symbols(dim) if name not in symbols]
    if missing:
        raise Malformed(f"needs the extent '{missing[0]}' for {what}; give it an index with tgpu.extent = …")


# --- arguments --------------------------------------------------------------------------------------------------------


def _check_arguments(function: Any) -> list[str]:
    """Check that the arguments are buffers, then a status buffer, then extents; return the symbols of these."""
    block = function.operation.regions[0].blocks[0]
    given = function.operation.attributes
    if len(given["function_type"].value.inputs) != len(block.arguments):
        raise Malformed(
            "has memory attributions; shared memory is a 'tgpu.alloc_smem', or a memref.global of the module"
        )
    entries = given["arg_attrs"] if "arg_attrs" in given else [{}] * len(block.arguments)
    parts = [_part(argument, entry) for argument, entry in zip(block.arguments, entries, strict=True)]
    order = [part for part, _ in parts]
    if order != sorted(order, key=_PARTS.index) or order.count("status") > 1:
        raise Malformed(f"has arguments in the order {', '.join(order)}; buffers come first, then status, then extents")
    names = [name for _, name in parts if name is not None]
    if len(set(names)) != len(names):
        raise Malformed(f"has two arguments of one name: {', '.join(names)}")
    symbols = [name for part, name in parts if part == "extent" and name is not None]
    held = [held_tensor(each.type) for each in block.arguments if isinstance(each.type, MemRefType)]
    if held:
        if len(function.operation.regions[0].blocks) > 1:
            raise Malformed("has several blocks; statements stand in one, and in the loops of scf")
        _check_statements(block)
    _check_body(function, symbols, held, "status" in order)
    _check_outputs(function, block)
    return symbols


_PARTS = ("buffer", "status", "extent")


def _part(argument: Any, given: Any) -> tuple[str, str | None]:
    """Return what an argument is, and its name if it has one."""
    kind, position = argument.type, argument.arg_number
    if "tgpu.status" in given:
        if not isinstance(kind, ir.MemRefType) or list(kind.shape) != [STATUS_WORDS] or str(kind.element_type) != "i64":
            raise Malformed(f"has a status buffer of type {kind}; it must be a memref<{STATUS_WORDS}xi64, …>")
        return "status", None
    if isinstance(kind, ir.IndexType):
        if "tgpu.extent" not in given or not isinstance(given["tgpu.extent"], ir.StringAttr):
            raise Malformed(f"has an index as argument {position} that is no extent; name its symbol, tgpu.extent = …")
        return "extent", given["tgpu.extent"].value
    if not isinstance(kind, (MemRefType, ir.MemRefType)):
        raise Malformed(f"has argument {position} of type {kind}; it takes buffers, a status buffer and extents")
    if "tgpu.name" not in given:
        return "buffer", None
    name = given["tgpu.name"]
    if not isinstance(name, ir.StringAttr) or not _IDENTIFIER.fullmatch(name.value):
        raise Malformed(f"has the buffer name {name}; use letters, digits and '_', a letter first")
    return "buffer", name.value


def _check_statements(block: Any, in_loop: bool = False) -> None:
    """Check that a block holds statements, loops around them, and what says where in the grid they are."""
    for op in (each.operation for each in block.operations):
        if in_loop and op.name == "tgpu.alloc_smem":
            raise Malformed("has a 'tgpu.alloc_smem' in a loop; shared memory is reserved once, in front of it")
        is_loop, is_scalar = op.name == "scf.for", op.name.startswith("arith.") or op.name in _AROUND
        if not (is_loop or is_scalar or op.name.startswith("tgpu.")):
            raise Malformed(
                f"has '{op.name}' beside its statements; it may have scf.for, arith and positions in the grid"
            )
        carried = (SmemType,) if is_loop or op.name == "scf.yield" else (SmemType, AccType)
        if not op.name.startswith("tgpu.") and any(isinstance(each.type, carried) for each in op.operands):
            raise Malformed(f"has a tile as an operand of '{op.name}'; loops carry sums, and statements take tiles")
        if is_loop:
            _check_statements(block_of(op), in_loop=True)


def _check_outputs(function: Any, block: Any) -> None:
    """Check that outputs come last and are not read: no thread knows when another one has written."""
    ops = nested(function)
    read = {op.operands[0] for op in ops if op.name == "region.read"}
    written = {op.operands[1] for op in ops if op.name == "region.yield"}
    buffers = [argument for argument in block.arguments if isinstance(argument.type, MemRefType)]
    if written & read:
        raise Malformed("reads a buffer that it writes; what lies between statements of one kernel are values")
    if written != set(buffers[len(buffers) - len(written) :]):
        raise Malformed("writes a buffer that others come after; its outputs are the last ones")


def _check_body(function: Any, symbols: list[str], held: list[TensorType], has_status: bool) -> None:
    """Check that the extents of what is computed are known, and that an index out of range can be noted."""
    for name in symbols_of(held):
        _require_known([extents.symbol(name)], symbols, "its buffers")
    for op in nested(function):
        if op.name.startswith("tiny."):
            _check_values(op, symbols, has_status)


def _check_values(op: Any, symbols: list[str], has_status: bool) -> None:
    if op.name in CHECKED and not has_status:
        raise Malformed(f"has '{op.name}' and no status buffer, which notes an index out of range")
    for result in op.results:
        _require_known(tensor_type(result.type).shape, symbols, f"'{op.name}'")
    if op.name == "tiny.shrink":
        cut = arguments(op)
        _require_known((*cut["lo"], *cut["hi"]), symbols, "'tiny.shrink'")


def _check_init(function: Any, by_name: dict[str, Any]) -> None:
    symbol = function.operation.attributes["tgpu.init"]
    init = by_name.get(symbol.value) if isinstance(symbol, ir.FlatSymbolRefAttr) else None
    if init is None or "tgpu.init" in init.operation.attributes:
        raise Malformed(f"has tgpu.init = {symbol}; it must name a kernel that needs no other before it")
    types = [each.operation.attributes["function_type"] for each in (function, init)]
    if types[0] != types[1]:
        raise Malformed(f"is launched after {symbol}, and their arguments differ; they are launched with the same ones")
