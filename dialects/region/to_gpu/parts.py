"""A kernel of long reductions as two: the first reduces parts of the rows, the second what it has found of each row.

In: a `region.kernel` whose plan takes rows in parts. Out: two in its place, launched one after the other. Between them
lie the partial results, in the accumulator's type, as tensors of the host.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.host_names import host_names
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.analysis.patterns.contraction import summed_factors
from tinyc.codegen.reduction_steps import accumulator_element, reduced_shape
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.kernel_body import KernelBody, needed_for
from tinyc.dialects.region.launches import call_kernel, kernel_calls, launch_of, replace_call
from tinyc.dialects.region.to_gpu.plans import PlannedKernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import func, ir
from tinyc.mlir.locations import RESULT_NAMES
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.schemes.registry import SCHEME_OF
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.reductions import REDUCTIONS
from tinyc.vocabulary.types import MAX_RANK


def in_parts(module: ir.Module, planned: PlannedKernel) -> list[PlannedKernel]:
    """The two kernels that take the place of one whose plan takes rows in parts, with its plan; any other as it is."""
    parts = _parts_of(planned)
    if not parts:
        return [planned]
    both, names = _in_two(module, planned.kernel, parts), host_names(module)
    return [PlannedKernel(each, kernel_candidate(each, names), planned.plan) for each in both]


def is_in_parts(planned: PlannedKernel) -> bool:
    """Whether `in_parts` makes two of a kernel."""
    return bool(_parts_of(planned))


def _parts_of(planned: PlannedKernel) -> list["_Parts"]:
    """The reductions of a kernel whose plan takes rows in parts; none of any other."""
    scheme = SCHEME_OF[str(planned.plan.scheme)]
    reductions = [op for op in planned.kernel.body if isinstance(op, tiny.ReduceOp)]
    reduced = [reduced_shape(op) for op in reductions]
    lengths = [scheme.part_lengths(planned.plan, each) for each in reduced]
    if lengths == reduced or any(tensor_type(op.operand.type).rank == MAX_RANK for op in reductions):
        return []
    return [_Parts(*each) for each in zip(reductions, lengths, strict=True)]


def _in_two(module: ir.Module, kernel: Kernel, reductions: Sequence["_Parts"]) -> tuple[Kernel, Kernel]:
    name = DistinctNames(declared_symbols(module.body)).new(f"{kernel.name}_parts")
    with ir.InsertionPoint(kernel.op), kernel.location:
        first = _first(kernel, name, reductions)
        second, read = _second(kernel, first, reductions)
    for call in [each for each in kernel_calls(module) if launch_of(each).kernel.value == kernel.name]:
        _launch_both(call, first, second, read)
    kernel.op.erase()
    return first, second


@dataclass(frozen=True)
class _Parts:
    """A reduction, and the lengths of a part along its axes: all or one, but for one axis at most, which is `cut`."""

    op: tiny.ReduceOp
    lengths: Shape

    @property
    def operands(self) -> list[ir.Value]:
        """What is reduced: a value, or the factors of products, which are formed in the accumulator's type."""
        return list(summed_factors(self.op))

    @property
    def shape(self) -> Shape:
        """The extents of the operand."""
        return tensor_type(self.op.operand.type).shape

    @property
    def inside(self) -> list[int]:
        """The axes that a part has whole."""
        pairs = zip(sorted(self.op.axes), self.lengths, strict=True)
        return [axis for axis, length in pairs if length == self.shape[axis]]

    @property
    def cut(self) -> tuple[int, Dim] | None:
        """The axis of which a part has more than an element, but not all, with the length."""
        pairs = zip(sorted(self.op.axes), self.lengths, strict=True)
        return next(((axis, length) for axis, length in pairs if length not in (1, self.shape[axis])), None)

    def partial(self, operands: Sequence[ir.Value]) -> ir.Value:
        """Emit what each whole part gives."""
        if self.cut is None:
            return self._reduced([*operands], self.inside)
        cut, length = self.cut
        whole = extents.floordiv(self.shape[cut], length)
        parts = [
            tiny.build("reshape", [each], {"shape": (*self.shape[:cut], whole, length, *self.shape[cut + 1 :])})
            for each in self._sliced(operands, 0, whole * length)
        ]
        axes = [cut + 1, *(axis + (axis > cut) for axis in self.inside)]
        return self._reduced([each.results[0] for each in parts], sorted(axes))

    def total(self, operands: Sequence[ir.Value], partial: ir.Value) -> ir.Value:
        """Emit the result: what the parts give, and what is behind the last whole one."""
        kept = [axis for axis in range(len(self.shape)) if axis not in self.inside]
        total = self._reduced([partial], [place for place, axis in enumerate(kept) if axis in self.op.axes])
        if self.cut is not None:
            cut, length = self.cut
            end, extent = extents.floordiv(self.shape[cut], length) * length, self.shape[cut]
            if end != extent:
                rest = self._reduced(self._sliced(operands, end, extent), sorted(self.op.axes))
                total = tiny.build(REDUCTIONS[self.op.op.value].combine, [total, rest], {}).results[0]
        element = tensor_type(self.op.output.type).element
        same = element == tensor_type(total.type).element
        return total if same else tiny.build("cast", [total], {"element": element}).results[0]

    def _reduced(self, operands: Sequence[ir.Value], axes: Sequence[int]) -> ir.Value:
        factors = list(operands)
        value = factors[0] if len(factors) == 1 else tiny.build("mul", factors, {}).results[0]
        values = {"op": self.op.op.value, "axes": tuple(axes), "element": accumulator_element(self.op)}
        return tiny.build("reduce", [value], values).results[0]

    def _sliced(self, operands: Sequence[ir.Value], start: Dim, end: Dim) -> list[ir.Value]:
        """Emit the elements of the operands from `start` below `end` along the axis that is cut."""
        assert self.cut is not None  # else there is nothing to take apart
        cut, _ = self.cut
        if (start, end) == (0, self.shape[cut]):
            return list(operands)
        lo = tuple(start if axis == cut else 0 for axis in range(len(self.shape)))
        hi = tuple(end if axis == cut else extent for axis, extent in enumerate(self.shape))
        step = (1,) * len(self.shape)
        return [tiny.build("shrink", [each], {"lo": lo, "hi": hi, "step": step}).results[0] for each in operands]


# --- the kernels ------------------------------------------------------------------------------------------------------


def _first(kernel: Kernel, name: str, reductions: Sequence[_Parts]) -> Kernel:
    """The kernel of the parts, which takes all inputs of `kernel`."""
    body = KernelBody(kernel, name)
    with ir.InsertionPoint(body.block):
        for op in needed_for(kernel, [value for each in reductions for value in each.operands]):
            body.copy(op)
        found: list[tuple[ir.Value, ir.Location]] = []
        for each in reductions:
            with each.op.location:
                value = each.partial([body.local[operand] for operand in each.operands])
                found.append((value, each.op.location))
        body.end(found)
    return Kernel(body.op)


def _second(kernel: Kernel, first: Kernel, reductions: Sequence[_Parts]) -> tuple[Kernel, list[int]]:
    """The kernel of the results, and which of the inputs of `kernel` and the results of `first` it takes."""
    body = KernelBody(kernel, kernel.name, first.outputs)
    partials = {each.op: (each, buffer) for each, buffer in zip(reductions, first.outputs, strict=True)}
    with ir.InsertionPoint(body.block):
        for op in kernel.body:
            if isinstance(op, tiny.ReduceOp):
                each, buffer = partials[op]
                with op.location:
                    partial = region.ReadOp(body.local[buffer], to_type(region.held_tensor(buffer.type))).output
                    body.local[op.output] = each.total([body.local[operand] for operand in each.operands], partial)
            elif not isinstance(op, region.YieldOp):
                body.copy(op)
        body.end((body.local[each.value], each.buffer.location) for each in kernel.yields)
    return Kernel(body.op), body.drop_unread()


# --- the host ---------------------------------------------------------------------------------------------------------


def _launch_both(call: func.CallIndirectOp, first: Kernel, second: Kernel, read: Sequence[int]) -> None:
    """Write the launches of two kernels in the place of one; the second takes the numbers `read` of all there is."""
    operands = list(call.callee_operands)
    with ir.InsertionPoint(call), call.location:
        found = call_kernel(first, operands)
        given = [*operands, *found.results]
        results = call_kernel(second, [given[position] for position in read if position < len(given)])
        if RESULT_NAMES in call.attributes:
            for each in (found, results) if len(found.results) == len(call.results) else (results,):
                each.attributes[RESULT_NAMES] = call.attributes[RESULT_NAMES]
    replace_call(call, results.results)
