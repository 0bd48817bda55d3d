"""Tiny → Region: each group of compute ops becomes a kernel, the function becomes the host that launches them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tinyc.analysis.buffers import Buffers
from tinyc.analysis.graphs import functions_of
from tinyc.analysis.grouping import Group, groups_of
from tinyc.diagnostics import TinycError
from tinyc.dialects.index_book import ops as index_book
from tinyc.dialects.poly import ops as poly
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import end_body
from tinyc.mlir.locations import here, where
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.passes import Pass
from tinyc.vocabulary.attributes import tensor_type, vocabulary_name


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
        func.func @main() -> tensor<f32> {
          %0 = "tiny.const"() {value = 1.0 : f32} : () -> tensor<f32>
          return %0 : tensor<f32>
        }
    After:
        !buffer = !region.memref<tensor<f32>, [], 128 : i64, true>
        "region.kernel"() ({ ^bb0(%y: !buffer):
          %0 = "tiny.const"() {value = 1.0 : f32} : () -> tensor<f32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<f32>, !buffer) -> ()
          omp.terminator }) {sym_name = "copy"} : () -> ()
        func.func @main() -> tensor<f32> {
          %k = "region.launch"() {kernel = @copy} : () -> (() -> tensor<f32>)
          %0 = call_indirect %k() : () -> tensor<f32>  return %0 : tensor<f32> }
    Source: specification 000 §4, 002 §4.
    """

    name: ClassVar[str] = "tiny-to-region"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("region",)

    def run(self, module: ir.Module) -> None:
        """Rewrite every function of `module`."""
        # What stands beside a Tiny function for reading says nothing about the host function that takes its place.
        for table in [op for op in module.body.operations if isinstance(op, index_book.TableOp | poly.ViewOp)]:
            table.erase()
        kernels = _Kernels(module)
        for function in functions_of(module):
            if _is_tiny(function):
                tiny.erase_unused(function.entry_block)
                _Host(function, kernels).build()


def _is_tiny(function: func.FuncOp) -> bool:
    """Whether a function is a Tiny graph: not a host, not loops.

    Raises:
        TinycError: it mixes Tiny compute with other ops.
    """
    blocks = function.regions[0].blocks
    ops = [op for block in blocks for op in block.operations if not isinstance(op, func.ReturnOp)]
    others = [op for op in ops if not isinstance(op, tiny.TinyOp | tiny.AssumeOp)]
    if any(isinstance(op, region.LaunchOp) for op in others) or (others and len(others) == len(ops)):
        return False
    if others:
        hint = "; --tiny-inline comes before" if any(isinstance(op, func.CallOp) for op in others) else ""
        raise TinycError(
            "InvalidIr",
            f"function @{function.name.value} mixes Tiny ops with '{min(op.operation.name for op in others)}'; "
            f"tiny-to-region takes functions of Tiny ops only{hint}",
            where(function.location),
        )
    return len(blocks) == 1 and all(
        isinstance(each, ir.RankedTensorType) for each in (*function.type.inputs, *function.type.results)
    )


class _Kernels:
    """The kernels of a module by body, and names that are new in it: what is computed, numbered where that is taken."""

    def __init__(self, module: ir.Module) -> None:
        self.new = DistinctNames(declared_symbols(module.body)).new
        self.names: dict[tuple[object, ...], str] = {}

    def name(self, kernel: region.KernelOp, stem: str) -> str:
        """Give a new kernel its name, or drop it where one with the same body exists; return the name."""
        body = _body_key(kernel.body.blocks[0])
        if body in self.names:
            kernel.erase()
        else:
            self.names[body] = self.new(stem)
            kernel.attributes["sym_name"] = ir.StringAttr.get(self.names[body])
        return self.names[body]


def _body_key(block: ir.Block) -> tuple[object, ...]:
    """A key that two kernel bodies share if and only if they do the same: all but names and locations."""
    numbers: dict[ir.Value, int] = {argument: number for number, argument in enumerate(block.arguments)}
    key: list[object] = [tuple(argument.type for argument in block.arguments)]
    for op in block.operations:
        attributes = tuple((name, op.attributes[name]) for name in op.attributes)
        key.append((op.name, attributes, tuple(numbers[operand] for operand in op.operands)))
        key.append(tuple(result.type for result in op.results))
        numbers.update((result, len(numbers) + k) for k, result in enumerate(op.results))
    return tuple(key)


class _Host:
    """Rebuilds one function as a host: `values` maps a buffer of the old function to its value in the new one."""

    def __init__(self, function: func.FuncOp, kernels: _Kernels) -> None:
        self.function, self.kernels = function, kernels
        self.block = function.entry_block
        self.buffers = Buffers(self.block, groups_of(self.block))
        with ir.InsertionPoint(function), function.location:
            self.host_function = func.FuncOp(function.name.value, function.type)
            self.host = self.host_function.add_entry_block([each.location for each in self.block.arguments])
        self.values: dict[ir.Value, ir.Value] = dict(zip(self.block.arguments, self.host.arguments, strict=True))
        self.memrefs: dict[ir.Type, ir.Type] = {}

    def build(self) -> None:
        """Write the kernels and the host function in front of the old function, and erase that."""
        for name in self.function.attributes:
            self.host_function.attributes[name] = self.function.attributes[name]
        for op in self.block.operations:
            if isinstance(op, tiny.AssumeOp):
                op.clone(ir.InsertionPoint(self.host))
        *_, terminator = self.block.operations
        returned = list(terminator.operands)
        wanted = self._wanted(returned)
        for op in self.block.operations:
            for value in op.results:
                if value in wanted and value not in self.values:
                    self._compute(value)
        results = [self._result(value, value in returned[:position]) for position, value in enumerate(returned)]
        with ir.InsertionPoint(self.host), self.function.location:
            func.ReturnOp(results)
        self.function.erase()

    def _wanted(self, returned: Sequence[ir.Value]) -> set[ir.Value]:
        """The buffers that the returned values need, directly or not."""
        wanted: set[ir.Value] = set()
        pending = [buffer for value in returned for buffer in self.buffers.read_by(value)]
        while pending:
            buffer = pending.pop()
            if buffer not in wanted and isinstance(buffer, ir.OpResult):
                wanted.add(buffer)
                pending.extend(self.buffers.needed_by(buffer))
        return wanted

    def _compute(self, value: ir.OpResult) -> None:
        """Emit what gives the buffer `value` a value in the host: a kernel, or a free view."""
        group = self.buffers.group_of.get(value)
        if group is not None:
            results = self._launch(group.outputs, group, self.buffers.inputs(group))
            self.values.update(zip(group.outputs, results, strict=True))
        elif value in self.buffers.views:
            view = value.owner.clone(ir.InsertionPoint(self.host))
            view.operands[0] = self.values[value.owner.operands[0]]
            self.values[value] = view.results[0]
        else:
            self.values[value] = self._copy(value, self.buffers.needed_by(value))

    def _result(self, value: ir.Value, taken: bool) -> ir.Value:
        """A kernel's result for a returned value: a copy, unless a kernel computes it for this alone."""
        if value in self.buffers.group_of and not taken:
            return self.values[value]
        return self._copy(value, self.buffers.read_by(value))

    def _copy(self, value: ir.Value, buffers: Iterable[ir.Value]) -> ir.Value:
        (copy,) = self._launch([value], None, buffers)
        return copy

    def _launch(
        self, outputs: Sequence[ir.Value], group: Group | None, buffers: Iterable[ir.Value]
    ) -> Sequence[ir.Value]:
        """Write the kernel that computes `outputs` from `buffers`; launch it in the host and return its results."""
        inputs = list(dict.fromkeys(buffers))
        types = [value.type for value in outputs]
        with outputs[0].location:
            kernel = self._kernel(inputs, outputs, group)
            name = self.kernels.name(kernel, _stem(group))
            with ir.InsertionPoint(self.host):
                function_type = ir.FunctionType.get([value.type for value in inputs], types)
                launch = region.LaunchOp(ir.FlatSymbolRefAttr.get(name), function_type, loc=here())
                return func.CallIndirectOp(types, launch.function, [self.values[value] for value in inputs]).results

    # --- kernels ------------------------------------------------------------------------------------------------------

    def _kernel(self, inputs: Sequence[ir.Value], outputs: Sequence[ir.Value], group: Group | None) -> region.KernelOp:
        """Write a kernel: a read of each input, the ops of the group with what they read through, the yields."""
        with ir.InsertionPoint(self.host_function):
            kernel = region.KernelOp(ir.StringAttr.get(""))  # named when its body is known
        buffers = *inputs, *outputs
        locations = [value.location for value in buffers]
        block = kernel.body.blocks.append(*map(self._memref, buffers), arg_locs=locations)
        local: dict[ir.Value, ir.Value] = {}
        with ir.InsertionPoint(block):
            for value, argument in zip(inputs, block.arguments, strict=False):
                local[value] = region.ReadOp(argument, value.type, loc=value.location).output
            for op in group.ops if group else ():
                _copy_op(op, local)
            for value, argument in zip(outputs, block.arguments[len(inputs) :], strict=True):
                region.YieldOp(_local(value, local), argument, ir.StringAttr.get("gmem"))
            end_body()
        return kernel

    def _memref(self, value: ir.Value) -> ir.Type:
        if value.type not in self.memrefs:
            self.memrefs[value.type] = region.memref_type(tensor_type(value.type))
        return self.memrefs[value.type]


def _copy_op(op: ir.OpView, local: dict[ir.Value, ir.Value]) -> None:
    """Copy an op to the insertion point, with what its operands need; `local` maps old values to new ones."""
    operands = [_local(operand, local) for operand in op.operands]
    copy = op.clone(ir.InsertionPoint.current)
    for position, operand in enumerate(operands):
        copy.operands[position] = operand
    local.update(zip(op.results, copy.results, strict=True))


def _local(value: ir.Value, local: dict[ir.Value, ir.Value]) -> ir.Value:
    """The copy of `value`, made now if it is a movement, a leaf or a cast that the kernel reads through."""
    if value not in local:
        assert isinstance(value.owner, ir.OpView)  # every argument that is read is an input
        _copy_op(value.owner, local)
    return local[value]


def _stem(group: Group | None) -> str:
    """The stem of a kernel's name: its contraction's pattern or its ops, the first few of them.

    An element-wise op says so, since its bare name may be a function of the C library (`exp2`), which code calls too.
    """
    if group is None:
        return "copy"
    if len(group.ops) == 1 and isinstance(group.ops[0], tiny.ElementwiseOp):
        return f"elementwise_{_verb(group.ops[0])}"
    names = [_verb(op) for op in group.ops]
    if group.pattern:
        names = [group.pattern, *names[2:]]
    return "_".join(names[:6]) + (f"_and_{len(names) - 6}_more" if len(names) > 6 else "")


def _verb(op: ir.OpView) -> str:
    return f"reduce_{op.op.value}" if isinstance(op, tiny.ReduceOp) else vocabulary_name(op)
