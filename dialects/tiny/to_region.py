"""Tiny → Region: each region that `fusion` forms becomes a kernel, the function becomes the host that launches them."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from tinyc.analysis.graphs import functions_of
from tinyc.analysis.patterns.contraction import Contraction, detect_contraction
from tinyc.analysis.tiny_ops import is_stored
from tinyc.diagnostics import TinycError, remark
from tinyc.dialects.index_book import ops as index_book
from tinyc.dialects.poly import ops as poly
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.fusion.formation import form_regions
from tinyc.fusion.graph import FusionNode, NodeKind
from tinyc.fusion.ledger import FUSION_RULES, note_ledger
from tinyc.fusion.regions import Formation
from tinyc.fusion.request import fusion_request
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import end_body
from tinyc.mlir.locations import here, name_of, unnamed, where
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.passes import Pass
from tinyc.plan.attribute import plan_attribute
from tinyc.plan.fields import Plan
from tinyc.plan.json_text import plan_to_json
from tinyc.plan.source import load_plan, split_plan
from tinyc.target import DEFAULT_ARCH, machine_of
from tinyc.vocabulary.attributes import tensor_type, vocabulary_name


@dataclass(frozen=True)
class TinyToRegion(Pass):
    """Form kernels and a host function.

    Backwards from the outputs an op, with the movements that it reads through, joins the kernels that read it where
    they have loops in common, the limits of the schemes are kept, and the time that is predicted for `target` (sm_80
    by default) is less; else it is a kernel of its own. What is cheap may be computed again by each kernel that reads
    it, and kernels that read the same tensor may become one. `fuse`, `no-fuse`, `fusion=none` and the `fusion` of a
    `plan` table ask for other decisions; a remark tells the decision on every edge. A movement that is not affine ends
    the region: its operand becomes a buffer, and a reshape of a buffer costs nothing.

    Requires:
        1. Functions of Tiny ops in a single block.
        2. Every function has the edges that `fuse`, `no-fuse` and `plan` ask for; one kernel can have those to fuse.
    Ensures:
        1. Each compute op that an output needs is in a `region.kernel`; all others are gone. Equal kernels are one.
        2. Each result of a function is a distinct result of a kernel; a result that is only a movement of an input, or
           an input, is copied by a kernel.
        3. What is asked for is met: every kernel with `b` has `a` for `fuse=a,b`, none has for `no-fuse=a,b`. With
           `fusion=none` a kernel has one op, and the product that it sums up.
        4. A kernel's `plan` has what formation decides of it: `algo_choice` of its contraction, and in `local_edges`
           where a reduction is held for what reads it. A `region.yield` has `materialize`: a result goes to `gmem`.
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

    target: str = field(default=DEFAULT_ARCH, metadata={"doc": "the machine to form regions for: cpu, sm_80 or sm_90a"})
    fuse: str | None = field(
        default=None, metadata={"doc": "edges to fuse, if legal, by their values: 'a,b;c,d', b reading a"}
    )
    no_fuse: str | None = field(default=None, metadata={"doc": "edges to keep, in the same form"})
    fusion: str | None = field(default=None, metadata={"doc": "'none': a kernel for each op"})
    plan: str | None = field(
        default=None, metadata={"doc": "a plan table, whose 'fusion' has more such edges: a file or text"}
    )

    name: ClassVar[str] = "tiny-to-region"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("region",)

    def alone(self) -> "TinyToRegion":
        """The pass with the content of the plan's file in place of its path."""
        source = load_plan(self.plan)
        return self if source is None else dataclasses.replace(self, plan=plan_to_json(source))

    def run(self, module: ir.Module) -> None:
        """Rewrite every function of `module`."""
        # What stands beside a Tiny function for reading says nothing about the host function that takes its place.
        for table in [op for op in module.body.operations if isinstance(op, index_book.TableOp | poly.ViewOp)]:
            table.erase()
        kernels = _Kernels(module)
        for function in functions_of(module):
            if _is_tiny(function):
                tiny.erase_unused(function.entry_block)
                _Host(function, kernels, self._formed(function)).build()

    def _formed(self, function: func.FuncOp) -> Formation:
        """The regions of a function; a remark tells each decision, and what a request changes."""
        machine, (_, edges) = machine_of(self.target), split_plan(self.plan)
        request = fusion_request(self.fuse, self.no_fuse, self.fusion).with_edges(edges)
        formation = form_regions(function, machine, request)
        note_ledger(formation.ledger)
        for node in formation.graph.nodes.values():
            _remark_boundary(node)
        for each in formation.ledger.decisions:
            decided = f"{each.verdict} ({each.rule}), {FUSION_RULES[each.rule]}"
            message = f"{each.source} -> {each.target}: {decided}: {each.reason}"
            if each.verdict == "fused":
                remark("fusion-fused", formation.place(each), message, **asdict(each))
            else:
                remark("fusion-kept", formation.place(each), message, **asdict(each))
        if request:
            asked, free = formation.ledger.microseconds, form_regions(function, machine).ledger.microseconds
            message = f"as asked for, {asked} us are predicted; {free} us without the request"
            remark("fusion-request", where(function.location), message, asked_us=asked, free_us=free)
        return formation


def _remark_boundary(node: FusionNode) -> None:
    """Tell where a movement ends a region.

    Raises:
        TinycError: `ExcessivePiecewise`: it is too much by itself, and no reshape, which a buffer has at no cost.
    """
    if node.boundary is None:
        return
    if node.kind is NodeKind.VIEW and not isinstance(node.op, tiny.ReshapeOp):
        counts = node.boundary.rpartition(": ")[2]
        message = f"'{node.op.name}' alone is too much for one access map: {counts}; write it as several movements"
        raise TinycError("ExcessivePiecewise", message, node.where)
    message = f"a region ends before this movement: {node.boundary}"
    remark("region-boundary", node.where, message, reason=node.boundary)


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
    """Rebuilds one function as a host: `values` maps a tensor of the old function to its value in the new one."""

    def __init__(self, function: func.FuncOp, kernels: _Kernels, formation: Formation) -> None:
        self.function, self.kernels, self.formation = function, kernels, formation
        self.block = function.entry_block
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
        launched: set[ir.Value] = set()
        for each in self.formation.regions:
            outputs = _all_results(self._tensors(each.results))
            results = self._launch(outputs, self._tensors(each.reads), self._tensors(each.members), each.plan)
            self.values.update(zip(outputs, results, strict=True))
            launched.update(outputs)
        *_, terminator = self.block.operations
        returned = list(terminator.operands)
        results = [
            self.values[value] if value in launched and value not in returned[:position] else self._copy(value)
            for position, value in enumerate(returned)
        ]
        with ir.InsertionPoint(self.host), self.function.location:
            func.ReturnOp(results)
        self.function.erase()

    def _tensors(self, names: Iterable[str]) -> list[ir.Value]:
        """The values of tensors of the graph."""
        return [self.formation.graph.values[name] for name in names]

    def _held(self, value: ir.Value) -> ir.Value:
        """The value of a tensor in the host: of a view the buffer under its shape; a constant is one of the host's."""
        if is_stored(value) and value not in self.values:
            self.values[value] = _owner(value).clone(ir.InsertionPoint(self.host)).results[0]
        elif value not in self.values:
            viewed = self._held(_owner(value).operands[0])
            view = _owner(value).clone(ir.InsertionPoint(self.host))
            view.operands[0] = viewed
            self.values[value] = view.results[0]
        return self.values[value]

    def _copy(self, value: ir.Value) -> ir.Value:
        (copy,) = self._launch([value], [value], [], Plan())
        return copy

    def _launch(
        self, outputs: Sequence[ir.Value], inputs: Sequence[ir.Value], members: Sequence[ir.Value], plan: Plan
    ) -> Sequence[ir.Value]:
        """Write the kernel that computes `outputs` from `inputs`; launch it in the host and return its results."""
        types = [value.type for value in outputs]
        ops = list(dict.fromkeys(_owner(value) for value in members))
        given = [self._held(value) for value in inputs]
        with outputs[0].location:
            kernel = self._kernel(inputs, outputs, ops)
            if plan.values():
                kernel.attributes["plan"] = plan_attribute(plan)
            name = self.kernels.name(kernel, _stem(ops))
            with ir.InsertionPoint(self.host):
                function_type = ir.FunctionType.get([value.type for value in inputs], types)
                launch = region.LaunchOp(ir.FlatSymbolRefAttr.get(name), function_type, loc=here())
                _name_checked(launch, [op for op in ops if isinstance(op, region.CheckedOp)], outputs)
                return func.CallIndirectOp(types, launch.function, given).results

    # --- kernels ------------------------------------------------------------------------------------------------------

    def _kernel(
        self, inputs: Sequence[ir.Value], outputs: Sequence[ir.Value], ops: Sequence[ir.OpView]
    ) -> region.KernelOp:
        """Write a kernel: a read of each input, the ops with what they read through, the yields."""
        with ir.InsertionPoint(self.host_function):
            kernel = region.KernelOp(ir.StringAttr.get(""))  # named when its body is known
        buffers = *inputs, *outputs
        locations = [value.location for value in buffers]
        block = kernel.body.blocks.append(*map(self._memref, buffers), arg_locs=locations)
        local: dict[ir.Value, ir.Value] = {}
        with ir.InsertionPoint(block):
            for value, argument in zip(inputs, block.arguments, strict=False):
                local[value] = region.ReadOp(argument, value.type, loc=value.location).output
            for op in ops:
                _copy_op(op, local)
            for value, argument in zip(outputs, block.arguments[len(inputs) :], strict=True):
                region.YieldOp(local[value], argument, ir.StringAttr.get("gmem"))
            end_body()
        return kernel

    def _memref(self, value: ir.Value) -> ir.Type:
        if value.type not in self.memrefs:
            self.memrefs[value.type] = region.memref_type(tensor_type(value.type))
        return self.memrefs[value.type]


def _name_checked(launch: region.LaunchOp, checked: Sequence[ir.OpView], outputs: Sequence[ir.Value]) -> None:
    """Say whose indices a launch checks, where that is no result: an index that is out of range is told by it."""
    for op in checked[:1]:
        name = name_of(op.location)
        if op.results[0] not in outputs and name is not None:
            launch.attributes["node"] = ir.StringAttr.get(name)
            launch.location = unnamed(op.location)


def _all_results(values: Sequence[ir.Value]) -> list[ir.Value]:
    """Values, with the other results of their ops: an op with several, a top-k, writes all."""
    return list(
        dict.fromkeys(
            result
            for value in values
            for result in (_owner(value).results if len(_owner(value).results) > 1 else [value])
        )
    )


def _owner(value: ir.Value) -> ir.OpView:
    assert isinstance(value.owner, ir.OpView)  # an argument is an input
    return value.owner


def _copy_op(op: ir.OpView, local: dict[ir.Value, ir.Value]) -> None:
    """Copy an op to the insertion point, after the movements, leaves and casts that it reads through.

    `local` maps old values to new ones. A chain of movements may be longer than Python's stack.
    """
    pending = [op]
    while pending:
        missing = [_owner(operand) for operand in pending[-1].operands if operand not in local]
        if missing:
            pending += missing
            continue
        each = pending.pop()
        if all(result in local for result in each.results):
            continue
        copy = each.clone(ir.InsertionPoint.current)
        for position, operand in enumerate(each.operands):
            copy.operands[position] = local[operand]
        local.update(zip(each.results, copy.results, strict=True))


def _stem(ops: Sequence[ir.OpView]) -> str:
    """The stem of a kernel's name: its ops, the first few of them, a contraction by its pattern.

    An element-wise op alone says so, since its bare name may be a function of the C library (`exp2`), which code calls
    too.
    """
    named = [op for op in ops if not isinstance(op, tiny.MovementOp | tiny.LeafOp)]
    named = _behind_product(named) or named
    if not named:
        return "copy"
    if len(named) == 1 and isinstance(named[0], tiny.ElementwiseOp):
        return f"elementwise_{_verb(named[0])}"
    names = list(map(_verb, named))
    return "_".join(names[:6]) + (f"_and_{len(names) - 6}_more" if len(names) > 6 else "")


def _source(value: ir.Value) -> ir.OpView | ir.Block:
    """What makes a value, below its movements."""
    while isinstance(value.owner, tiny.MovementOp):
        value = value.owner.operands[0]
    return value.owner


def _behind_product(ops: Sequence[ir.OpView]) -> list[ir.OpView]:
    """A contraction among ops and what is made of it; nothing where there is none."""
    found: list[ir.OpView] = []
    for op in ops:
        made_of = any(_source(operand) in found for operand in op.operands)
        if made_of or (isinstance(op, tiny.ReduceOp) and not _verb(op).startswith("reduce")):
            found.append(op)
    return found


def _verb(op: ir.OpView) -> str:
    if not isinstance(op, tiny.ReduceOp):
        return vocabulary_name(op)
    found = detect_contraction(op)
    return found.pattern if isinstance(found, Contraction) and found.has_mma_shape else f"reduce_{op.op.value}"
