"""Tiny → Region: each group of compute ops becomes a kernel, the function becomes the host that launches them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from tinyc.analysis.buffers import Buffers
from tinyc.analysis.grouping import Group, groups_of
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.ops import memref_type
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.infer import ELEMENTWISE
from tinyc.dialects.tiny.ops import erase_unused
from tinyc.dialects.tiny.verify import functions
from tinyc.mlir import end_body, func, ir
from tinyc.passes import Pass
from tinyc.text import where

#: What stands beside a Tiny function for reading only: it says nothing about the host function that takes its place.
_SIDE_TABLES = ("index_book.table", "poly.view")


@dataclass(frozen=True)
class TinyToRegion(Pass):
    """Form kernels and a host function.

    A contraction takes the element-wise ops behind it, every other compute op is a kernel of its own; movements go
    into the kernels that read through them. A movement that is not affine ends the region: its operand becomes a
    buffer, and a reshape of a buffer costs nothing.

    Requires:
        1. Functions of Tiny ops in a single block.
    Ensures:
        1. Each compute op that an output needs is in a `region.kernel`; all others are gone. Equal kernels are one.
        2. Each result of a function is a distinct result of a kernel; a result that is only a movement of an input, or
           an input, is copied by a kernel.
    Before:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    After:
        !buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
          "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "elementwise_neg"} : () -> ()
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %k = "region.launch"() {kernel = @elementwise_neg} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
          %0 = call_indirect %k(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    Source: specification 000 §4, 002 §4.
    """

    name: ClassVar[str] = "tiny-to-region"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("region",)

    def run(self, module: Any) -> None:
        """Rewrite every function of `module`."""
        for op in list(module.body.operations):
            if op.operation.name in _SIDE_TABLES:
                op.operation.erase()
        names = _Names(module)
        for function in functions(module):
            if _is_tiny(function):
                erase_unused(function.regions[0].blocks[0])
                _Host(function, names).build()


def _is_tiny(function: Any) -> bool:
    """Say whether a function is a Tiny graph: not a host, not loops.

    Raises:
        TinycError: it mixes Tiny compute with other ops.
    """
    blocks = function.regions[0].blocks
    names = {op.operation.name for block in blocks for op in block.operations} - {"func.return"}
    others = {name for name in names if not name.startswith("tiny.")}
    if "region.launch" in others or (others and len(others) == len(names)):
        return False
    if others:
        raise TinycError(
            "InvalidIr",
            f"function @{function.name.value} mixes Tiny ops with '{min(others)}'; tiny-to-region takes functions of "
            "Tiny ops only",
            where(function.location),
        )
    return len(blocks) == 1 and all(
        isinstance(t, ir.RankedTensorType) for t in (*function.type.inputs, *function.type.results)
    )


class _Names:
    """The kernels of a module by body, and names that are new in it: what is computed, numbered where that is taken."""

    def __init__(self, module: Any) -> None:
        symbols = (op.operation.attributes.get("sym_name") for op in module.body.operations)
        self.taken = {symbol.value for symbol in symbols if isinstance(symbol, ir.StringAttr)}
        self.counts: dict[str, int] = {}
        self.of_body: dict[Any, str] = {}

    def new(self, stem: str) -> str:
        """Return `stem`, or `stem_<n>`."""
        name = stem
        while name in self.taken:
            self.counts[stem] = self.counts.get(stem, 0) + 1
            name = f"{stem}_{self.counts[stem]}"
        self.taken.add(name)
        return name


class _Host:
    """Rebuilds one function as a host: `values` maps a buffer of the old function to its value in the new one."""

    def __init__(self, function: Any, names: _Names) -> None:
        self.function, self.names = function, names
        self.block = function.regions[0].blocks[0]
        self.buffers = Buffers(self.block, groups_of(self.block))
        self.values: dict[Any, Any] = {}
        self.memrefs: dict[Any, Any] = {}

    def build(self) -> None:
        """Write the kernels and the host function in front of the old function, and erase that."""
        operations = self.block.operations
        returned = list(operations[len(operations) - 1].operation.operands)
        wanted = self._wanted(returned)
        self._declare()
        for op in operations:
            for value in op.operation.results:
                if value in wanted and value not in self.values:
                    self._compute(value)
        results = [self._result(value, value in returned[:position]) for position, value in enumerate(returned)]
        with ir.InsertionPoint(self.host), self.function.location:
            func.ReturnOp(results)
        self.function.operation.erase()

    def _wanted(self, returned: list[Any]) -> set[Any]:
        """Return the buffers that the returned values need, directly or not."""
        wanted: set[Any] = set()
        pending = [buffer for value in returned for buffer in self.buffers.read_by(value)]
        while pending:
            buffer = pending.pop()
            if buffer not in wanted and isinstance(buffer, ir.OpResult):
                wanted.add(buffer)
                pending.extend(self.buffers.needed_by(buffer))
        return wanted

    def _declare(self) -> None:
        """Create the host function with the old one's type, attributes and assumptions."""
        attributes = self.function.operation.attributes
        with ir.InsertionPoint(self.function.operation), self.function.location:
            self.host_function = func.FuncOp(self.function.name.value, self.function.type)
            self.host = self.host_function.add_entry_block()
        for name in attributes:
            self.host_function.operation.attributes[name] = attributes[name]
        self.values.update(zip(self.block.arguments, self.host.arguments, strict=True))
        for op in self.block.operations:
            if op.operation.name == "tiny.assume":
                op.operation.clone(ir.InsertionPoint(self.host))

    def _compute(self, value: Any) -> None:
        """Emit what gives the buffer `value` a value in the host: a kernel, or a free view."""
        group = self.buffers.group_of.get(value)
        if group is not None:
            results = self._kernel(group.outputs, group, list(self.buffers.inputs(group)))
            self.values.update(zip(group.outputs, results, strict=True))
        elif value in self.buffers.views:
            view = value.owner.operation.clone(ir.InsertionPoint(self.host))
            view.operands[0] = self.values[value.owner.operation.operands[0]]
            self.values[value] = view.results[0]
        else:
            (self.values[value],) = self._copy(value, self.buffers.needed_by(value))

    def _result(self, value: Any, taken: bool) -> Any:
        """Return a kernel's result for a returned value: a copy, unless a kernel computes it for this alone."""
        if value in self.buffers.group_of and not taken:
            return self.values[value]
        (copy,) = self._copy(value, self.buffers.read_by(value))
        return copy

    def _copy(self, value: Any, buffers: Iterable[Any]) -> list[Any]:
        return self._kernel([value], None, list(buffers))

    # --- kernels ------------------------------------------------------------------------------------------------------

    def _kernel(self, outputs: list[Any], group: Group | None, buffers: list[Any]) -> list[Any]:
        """Write the kernel that computes `outputs` from `buffers`; launch it in the host and return its results."""
        inputs = list(dict.fromkeys(buffers))
        location = (
            outputs[0].owner.operation.location if isinstance(outputs[0], ir.OpResult) else self.function.location
        )
        with location:
            unnamed = {"sym_name": ir.StringAttr.get("")}
            with ir.InsertionPoint(self.host_function.operation):
                kernel = ir.Operation.create("region.kernel", attributes=unnamed, regions=1)
            block = kernel.regions[0].blocks.append(*map(self._memref, (*inputs, *outputs)))
            with ir.InsertionPoint(block):
                self._body(block, inputs, outputs, group)
                end_body()
            return self._launch(self._named(kernel, block, group), inputs, outputs)

    def _named(self, kernel: Any, block: Any, group: Group | None) -> str:
        """Give a new kernel its name, or drop it where one with the same body exists; return the name."""
        body = _body_key(block)
        if body in self.names.of_body:
            kernel.erase()
        else:
            self.names.of_body[body] = name = self.names.new(_stem(group))
            kernel.attributes["sym_name"] = ir.StringAttr.get(name)
        return self.names.of_body[body]

    def _memref(self, value: Any) -> Any:
        if value.type not in self.memrefs:
            self.memrefs[value.type] = memref_type(tensor_type(value.type))
        return self.memrefs[value.type]

    def _body(self, block: Any, inputs: list[Any], outputs: list[Any], group: Group | None) -> None:
        local: dict[Any, Any] = {}
        for value, argument in zip(inputs, block.arguments, strict=False):
            read = ir.Operation.create("region.read", results=[value.type], operands=[argument])
            local[value] = read.results[0]
        for op in group.ops if group else ():
            _copy_op(op.operation, local)
        for value, argument in zip(outputs, list(block.arguments)[len(inputs) :], strict=True):
            ir.Operation.create(
                "region.yield",
                operands=[_local(value, local), argument],
                attributes={"materialize": ir.StringAttr.get("gmem")},
            )

    def _launch(self, name: str, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        types = [value.type for value in outputs]
        function = ir.FunctionType.get([value.type for value in inputs], types)
        with ir.InsertionPoint(self.host):
            launch = ir.Operation.create(
                "region.launch", results=[function], attributes={"kernel": ir.FlatSymbolRefAttr.get(name)}
            )
            call = func.CallIndirectOp(types, launch.results[0], [self.values[value] for value in inputs])
        return list(call.operation.results)


def _body_key(block: Any) -> tuple[Any, ...]:
    """Return what two kernel bodies have in common if and only if they do the same: all but names and locations."""
    numbers = {argument: number for number, argument in enumerate(block.arguments)}
    key: list[Any] = [tuple(argument.type for argument in block.arguments)]
    for op in block.operations:
        attributes = op.operation.attributes
        operands = tuple(numbers[operand] for operand in op.operation.operands)
        results = list(op.operation.results)
        key.append((op.operation.name, tuple((name, attributes[name]) for name in attributes), operands))
        key.append(tuple(result.type for result in results))
        numbers.update((result, len(numbers) + k) for k, result in enumerate(results))
    return tuple(key)


def _copy_op(op: Any, local: dict[Any, Any]) -> None:
    """Copy an op to the insertion point, with what its operands need; `local` maps old values to new ones."""
    operands = [_local(operand, local) for operand in op.operands]
    copy = op.clone(ir.InsertionPoint.current)
    for position, operand in enumerate(operands):
        copy.operands[position] = operand
    local.update(zip(op.results, copy.results, strict=True))


def _local(value: Any, local: dict[Any, Any]) -> Any:
    """Return the copy of `value`, made now if it is a movement, a leaf or a cast that the kernel reads through."""
    if value not in local:
        _copy_op(value.owner.operation, local)
    return local[value]


def _stem(group: Group | None) -> str:
    """Return what a kernel is called: its contraction's pattern or its ops, the first few of them.

    An element-wise op says so, since its bare name may be a function of the C library (`exp2`), which code calls too.
    """
    if group is None:
        return "copy"
    names = [_verb(op.operation) for op in group.ops]
    if len(names) == 1 and names[0] in ELEMENTWISE:
        return f"elementwise_{names[0]}"
    if group.pattern:
        names = [group.pattern, *names[2:]]
    return "_".join(names[:6]) + (f"_and_{len(names) - 6}_more" if len(names) > 6 else "")


def _verb(op: Any) -> str:
    name = op.name.removeprefix("tiny.")
    return f"reduce_{op.attributes['op'].value}" if name == "reduce" else name
