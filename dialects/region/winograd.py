"""Convolutions by Winograd's algorithm, where a plan asks for it: several kernels in the place of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from tinyc.analysis.winograd import WinogradConvolution, winograd_convolution
from tinyc.diagnostics import TinycError
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.region.kernel_body import KernelBody, needed_for
from tinyc.dialects.region.launches import call_kernel, kernel_calls, kernel_of, launch_of, replace_call
from tinyc.dialects.region.plan import candidates_of, plan_of_kernel, planned
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.emit_steps import StepEmitter
from tinyc.expr import extents
from tinyc.formulas.steps import Steps
from tinyc.formulas.value import Builder, Value
from tinyc.formulas.winograd import image_points, kernel_points, places_of_points, tiled_image
from tinyc.mlir import func, ir
from tinyc.mlir.locations import unnamed, where
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.passes import Pass
from tinyc.plan.attribute import plan_attribute
from tinyc.plan.fields import WINOGRAD
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: What a kernel computes of some values, as a formula.
_Formula: TypeAlias = Callable[..., Sequence[Value]]


@dataclass(frozen=True)
class RegionWinograd(Pass):
    """Compute convolutions whose plan says `winograd_3x3` by F(2 × 2, 3 × 3): `formulas.winograd` has the algebra.

    Each becomes five kernels, which get the default plans of what they are, and say by `algorithm` what they are of:

    - `…_image` writes out what the tiles read, with zeros around it, so that no element of a tile asks where it is;
    - `…_points` transforms the tiles, `…_kernels` the weights: 16 matrices each;
    - `…_products` is a matrix product, which is launched for each of the 16;
    - the last one, which keeps the name, transforms the sums back and does all that was behind them.

    Requires:
        1. The module holds `region.kernel`s for a CPU, with plans, and host functions that launch them.
    Ensures:
        1. No plan says `winograd_3x3`.
        2. What depends on weights alone, such as `…_kernels`, runs once, when they are set (--region-to-exec).
    Before:
        !t = tensor<2x2x2x2x3x3xf32> !x = tensor<2x4x4xf32> !w = tensor<2x2x3x3xf32> !y = tensor<2x2x2xf32>
        !a = !region.memref<!x, [16, 4, 1], 128 : i64, true> !b = !region.memref<!w, [18, 9, 3, 1], 128 : i64, true>
        !c = !region.memref<!y, [4, 2, 1], 128 : i64, true> !v = tensor<2x2x2x3x3xf32> "region.kernel"() ({
        ^bb0(%x: !a, %w: !b, %y: !c): %0 = "region.read"(%x) : (!a) -> !x %1 = "region.read"(%w) : (!b) -> !w
        %2 = "tiny.pool"(%0) {kernel = array<i64: 3,3>, stride = array<i64: 1,1>, dilation = array<i64: 1,1>}:(!x) -> !v
        %3 = "tiny.expand"(%2) {broadcast_dimensions = array<i64: 3,1,2,4,5>} : (!v) -> !t
        %4 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 0,3,4,5>} : (!w) -> !t
        %5 = "tiny.mul"(%3, %4): (!t, !t) -> !t %6 = "tiny.reduce"(%5) {axes = array<i64: 3,4,5>, op="sum"}: (!t) -> !y
        "region.yield"(%6, %y) {materialize = "gmem"} : (!y, !c) -> () omp.terminator
        }) {plan = {algo_choice = {conv = "winograd_3x3"}, arch = "cpu"}, sym_name = "conv"} : () -> ()
    After:
        !x = tensor<2x4x4xf32> !i = tensor<2x1x4x4xf32> "region.kernel"() ({ ^bb0(%x: !region.memref<!x, [16, 4, 1], 128
        : i64, true>, %i: !region.memref<!i, [16, 16, 4, 1], 128 : i64, true>): %0 = "region.read"(%x) :
        (!region.memref<!x, [16, 4, 1], 128 : i64, true>) -> !x %1 = "tiny.reshape"(%0) : (!x) -> !i "region.yield"(%1,
        %i) {materialize = "gmem"} : (!i, !region.memref<!i, [16, 16, 4, 1], 128 : i64, true>) -> () omp.terminator })
        {algorithm = "winograd_3x3", plan = {arch = "cpu", loop = {parallelize = array<i64: 0, 1>}, precision = "ieee",
        scheme = "cpu_rows"}, sym_name = "conv_image"} : () -> ()
        …
    Source: specification 002 §5 (algo_choice); Lavin, Gray, "Fast Algorithms for Convolutional Neural Networks".
    """

    name: ClassVar[str] = "region-winograd"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("region",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    def run(self, module: ir.Module) -> None:
        """Replace the kernels of `module` that are to be computed so."""
        found = {name: _convolution_of(each) for name, each in kernels_of(module).items() if _asks_for_it(each)}
        new: set[str] = set()
        for name, convolution in found.items():
            kernels = _Kernels(module, kernels_of(module)[name], convolution)
            for call in kernel_calls(module):
                if kernel_of(call) == name:
                    kernels.launch(call)
            new.update(kernels.names)
            kernels.replace()
        if new:
            for kernel, candidate in candidates_of(module, GENERIC_CPU).items():
                if kernel.name in new:
                    kernel.op.attributes["plan"] = plan_attribute(planned(kernel, candidate, GENERIC_CPU))


def _asks_for_it(kernel: Kernel) -> bool:
    plan = plan_of_kernel(kernel)
    return plan is not None and (plan.algo_choice or {}).get("conv") == WINOGRAD


def _convolution_of(kernel: Kernel) -> WinogradConvolution:
    """The convolution that a kernel is.

    Raises:
        TinycError: `PlanMismatch`: Winograd's algorithm does not compute it.
    """
    found = winograd_convolution(kernel)
    if isinstance(found, str):
        message = f"the plan of @{kernel.name}: 'algo_choice' is '{WINOGRAD}', which does not compute it, since {found}"
        raise TinycError("PlanMismatch", message, where(kernel.location))
    return found


class _Kernels:
    """The kernels that compute a convolution, written in front of the one that does now.

    Of each, `reads` has which of the inputs of that it takes, by position; what others make for it comes behind these.
    """

    def __init__(self, module: ir.Module, kernel: Kernel, convolution: WinogradConvolution) -> None:
        self.kernel, self.convolution = kernel, convolution
        self.reads: dict[str, list[int]] = {}
        self._place = unnamed(convolution.reduce.location)  # of what stands for no value of the program
        names = DistinctNames(declared_symbols(module.body))
        with ir.InsertionPoint(kernel.op), kernel.location:
            self.image = self._of_inputs(names.new(f"{kernel.name}_image"), convolution.image, self._tiled_image)
            image = self.image.tensors[-1]
            self.points = self._of_values(names.new(f"{kernel.name}_points"), [image], _image_points)
            self.weights = self._of_inputs(names.new(f"{kernel.name}_kernels"), convolution.weights, self._weights)
            matrices = [self.weights.tensors[-1], self._matrix(self.points.tensors[-1])]
            self.products = self._of_values(names.new(f"{kernel.name}_products"), matrices, _product)
            self.last = self._behind_sums(names.new(f"{kernel.name}_places"))

    @property
    def all(self) -> tuple[Kernel, ...]:
        """All of them, in the order in which they run."""
        return self.image, self.points, self.weights, self.products, self.last

    @property
    def names(self) -> list[str]:
        """What they are called when they have replaced the kernel."""
        return [*(each.name for each in self.all[:-1]), self.kernel.name]

    def replace(self) -> None:
        """Erase the kernel, which is not launched any more; the last one takes its name."""
        name = self.kernel.op.sym_name
        self.kernel.op.erase()
        self.last.op.attributes["sym_name"] = name

    # --- the kernels --------------------------------------------------------------------------------------------------

    def _of_inputs(self, name: str, value: ir.Value, formula: _Formula) -> Kernel:
        """The kernel of a formula of a value of the one kernel that there was."""
        body = KernelBody(self.kernel, name)
        with ir.InsertionPoint(body.block), self._place:
            for op in needed_for(self.kernel, [value]):
                body.copy(op)
            results = _applied(formula, [body.local[value]])
            body.end((each, ir.Location.current) for each in results)
        return self._ended(body)

    def _of_values(self, name: str, tensors: Sequence[TensorType], formula: _Formula) -> Kernel:
        """The kernel of a formula of what others have made."""
        body = KernelBody(self.kernel, name)
        with ir.InsertionPoint(body.block), self._place:
            results = _applied(formula, [body.read(each) for each in tensors])
            body.end((each, ir.Location.current) for each in results)
        return self._ended(body)

    def _behind_sums(self, name: str) -> Kernel:
        """The kernel of all that is behind the sums, which are made of those of the points."""
        body, reduce = KernelBody(self.kernel, name), self.convolution.reduce
        with ir.InsertionPoint(body.block), self._place:
            for op in self.kernel.body:
                if op == reduce:
                    points = [body.read(self._sums) for _ in self.points.outputs]
                    (body.local[reduce.output],) = _applied(self._places, points, reduce.location)
                elif not isinstance(op, region.YieldOp):
                    body.copy(op)
            body.end((body.local[each.value], each.buffer.location) for each in self.kernel.yields)
        return self._ended(body)

    def _ended(self, body: KernelBody) -> Kernel:
        kernel, inputs = Kernel(body.op), len(self.kernel.inputs)
        self.reads[kernel.name] = [position for position in body.drop_unread() if position < inputs]
        kernel.op.attributes[region.ALGORITHM] = ir.StringAttr.get(WINOGRAD)
        return kernel

    # --- what they compute --------------------------------------------------------------------------------------------

    def _tiled_image(self, image: Value) -> list[Value]:
        convolution = self.convolution
        image = image.permute(*convolution.image_order)
        lead = (extents.product(convolution.extents(axes)) for axes in (convolution.channels, convolution.images))
        return [tiled_image(image.reshape(*lead, *image.shape[-2:]), convolution.starts, convolution.tiles)]

    def _weights(self, weights: Value) -> list[Value]:
        convolution = self.convolution
        kept = (*convolution.filters, *convolution.channels, *convolution.taps)
        others = [axis for axis in range(weights.rank) if axis not in kept]
        for axis in others:
            weights = weights.slice(axis, 0, 1)
        weights = weights.permute(*kept, *others)
        lead = (extents.product(convolution.extents(axes)) for axes in (convolution.filters, convolution.channels))
        taps = convolution.extents(convolution.taps)
        return kernel_points(weights.reshape(*lead, *taps).to(ElementType.F32))

    def _places(self, *points: Value) -> list[Value]:
        convolution = self.convolution
        order = (*convolution.filters, *convolution.images, *convolution.places)
        found = places_of_points(points, *convolution.extents(convolution.places))
        found = found.reshape(*convolution.extents(order))
        found = found.permute(*(order.index(axis) for axis in sorted(order)))
        return [found.to(tensor_type(convolution.reduce.output.type).element)]

    # --- the host -----------------------------------------------------------------------------------------------------

    @property
    def _sums(self) -> TensorType:
        """What a product gives, by filter, image and tile."""
        filters, (_, *tiles) = self.weights.tensors[-1].shape[0], self.points.tensors[-1].shape
        return TensorType(ElementType.F32, (filters, *tiles))

    @staticmethod
    def _matrix(tensor: TensorType) -> TensorType:
        """A tensor with its first axis as rows, and all others as columns."""
        rows, *columns = tensor.shape
        return TensorType(tensor.element, (rows, extents.product(columns)))

    def launch(self, call: func.CallIndirectOp) -> None:
        """Launch the kernels in the place of a call of the one that there was."""
        inputs, matrix = list(call.callee_operands), self._matrix(self.points.tensors[-1])

        def launched(kernel: Kernel, *made: ir.Value) -> list[ir.Value]:
            given = [inputs[position] for position in self.reads[kernel.name]]
            return list(call_kernel(kernel, [*given, *made]).results)

        with ir.InsertionPoint(call), unnamed(call.location):
            points = launched(self.points, *launched(self.image))
            sums: list[ir.Value] = []
            for weights, point in zip(launched(self.weights), points, strict=True):
                (product,) = launched(self.products, weights, _reshaped(point, matrix))
                sums.append(_reshaped(product, self._sums))
            with call.location:
                replacing = call_kernel(self.last, [*(inputs[at] for at in self.reads[self.last.name]), *sums])
        old_launch, new_launch = launch_of(call), launch_of(replacing)
        for name in call.attributes:
            replacing.attributes[name] = call.attributes[name]
        for name in old_launch.attributes:
            new_launch.attributes[name] = old_launch.attributes[name]
        replace_call(call, replacing.results)


def _image_points(image: Value) -> list[Value]:
    return image_points(image.to(ElementType.F32))


def _product(weights: Value, points: Value) -> list[Value]:
    (filters, channels), (_, columns) = weights.shape, points.shape
    space = (filters, columns, channels)
    product = weights.expand(space, (0, 2)) * points.permute(1, 0).expand(space, (1, 2))
    return [product.reduce("sum", 2)]


def _applied(formula: _Formula, values: Sequence[ir.Value], location: ir.Location | None = None) -> list[ir.Value]:
    """Emit what a formula makes of values; what gives the result is at `location`, if one is given."""
    steps, place = Steps(), ir.Location.current
    builder = Builder(steps, where(place))
    operands = [builder.value(steps.placeholder(tensor_type(each.type))) for each in values]
    results = [each.number for each in formula(*operands)]
    emitter = StepEmitter(dict(enumerate(values)))
    for step in steps.steps:
        emitter.emit(step, lambda each: location if location is not None and each.first in results else place)
    return [emitter.values[number] for number in results]


def _reshaped(value: ir.Value, tensor: TensorType) -> ir.Value:
    """Emit a buffer under another shape."""
    return tiny.build("reshape", [value], {"shape": tensor.shape}).results[0]
