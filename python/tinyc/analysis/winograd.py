"""Convolutions that Winograd's F(2 × 2, 3 × 3) computes: whether a kernel is one, and how far off its sums may be.

In: a `region.kernel`. Out: a `WinogradConvolution`, which --region-winograd makes several kernels by, or why it is
none, with what to do. The algorithm itself is `formulas.winograd`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.access import Access
from tinyc.analysis.kernel_candidate import contraction_of
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.analysis.patterns.contraction import Contraction, Rejected, Window, detect_contraction
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.ops import ALGORITHM
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes, extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.formulas.winograd import KERNEL_TAPS, TILE_PLACES
from tinyc.mlir import ir
from tinyc.plan.fields import WINOGRAD
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class WinogradConvolution:
    """A convolution whose sums are `reduce`, in the axes of its products: their numbers, in the order of the products.

    `places` and `taps` are two each, rows first. The `image` is read as `[channels…, images…, rows, columns]` when its
    axes are in the `image_order`, from `starts` on, which are negative where it is padded; the `weights` are a factor
    of the products. `shape` has the extents of all axes.
    """

    reduce: tiny.ReduceOp
    shape: tuple[int, ...]
    images: tuple[int, ...]
    filters: tuple[int, ...]
    channels: tuple[int, ...]
    places: tuple[int, int]
    taps: tuple[int, int]
    image: ir.Value
    image_order: tuple[int, ...]
    starts: tuple[int, int]
    weights: ir.Value

    @property
    def tiles(self) -> tuple[int, int]:
        """The tiles along the rows and the columns, the last of which may have a place that is not there."""
        rows, columns = (-(-self.shape[axis] // TILE_PLACES) for axis in self.places)
        return rows, columns

    def extents(self, positions: Sequence[int]) -> tuple[int, ...]:
        """How long some of the axes are."""
        return tuple(self.shape[position] for position in positions)


def winograd_convolution(kernel: Kernel) -> WinogradConvolution | str:
    """The convolution that a kernel is, if Winograd's algorithm computes it, or why not: it completes "since …"."""
    if kernel.sizes or kernel.guards:
        return "it is an alternative for some sizes; bind them for all runs"
    if kernel.symbols:
        return f"it depends on {', '.join(kernel.symbols)}, which a run tells; bind that"
    if kernel.is_checked:
        return "it reads by indices of a run, which are checked where they are used"
    found = contraction_of(kernel, kernel_loops(kernel.op))
    return found if isinstance(found, str) else _convolution(found)


def _convolution(found: Contraction) -> WinogradConvolution | str:
    """The convolution that a contraction of extents that are numbers is, or why Winograd's algorithm is not for it."""
    sides = _windows(found)
    if isinstance(sides, str):
        return sides
    element = tensor_type(found.reduce.output.type).element
    if element.accumulator is not ElementType.F32:
        return f"its sums are {element.accumulator.json_name}, and the transforms are of fp32"
    shape = tuple(extent for extent in found.domain if isinstance(extent, int))
    if len(shape) != len(found.domain) or 0 in shape:
        return f"its axes are {' × '.join(map(str, found.domain))}, and all must be numbers above 0; bind them"
    rows, columns = sides
    is_left = rows.operand == "lhs"
    image, weights = (found.lhs, found.rhs) if is_left else (found.rhs, found.lhs)
    kept = [axis for axis in range(len(shape)) if axis not in (*found.reduced, rows.outer, columns.outer)]
    of_image, of_weights = (frozenset[int]().union(*map(axes.positions, each.map)) for each in (image, weights))
    shared = [axis for axis in kept if axis in of_image and axis in of_weights]
    if shared:
        groups = " × ".join(str(shape[axis]) for axis in shared)
        return f"it has {groups} groups, and the algorithm is for one"
    filters = tuple(axis for axis in kept if axis in of_weights)
    images = tuple(axis for axis in kept if axis not in of_weights)
    channels = tuple(axis for axis in found.reduced if axis not in (rows.kernel, columns.kernel))
    order = _image_order(image, (*channels, *images), (rows, columns), shape)
    if isinstance(order, str):
        return order
    for window, at in zip(sides, order[-2:], strict=True):
        extent, past = tensor_type(image.source.type).shape[at], shape[window.outer] + KERNEL_TAPS - 1 - window.pad
        if not (isinstance(extent, int) and -window.pad < extent and past > 0):
            return "its windows are all beside the image"
    return WinogradConvolution(
        reduce=found.reduce,
        shape=shape,
        images=images,
        filters=filters,
        channels=channels,
        places=(rows.outer, columns.outer),
        taps=(rows.kernel, columns.kernel),
        image=image.source,
        image_order=order,
        starts=(-rows.pad, -columns.pad),
        weights=found.multiply.operands[0 if not is_left else 1],
    )


def _windows(found: Contraction) -> tuple[Window, Window] | str:
    """The windows along rows and columns, in the order of the result's axes; or why there are no such."""
    windows = sorted(found.windows, key=lambda each: each.outer)
    if len(windows) != 2:
        return f"it has windows along {len(windows)} axes, and the algorithm is for two"
    if not found.digits.are_axes:
        return "its places or channels are parts of one axis"
    for what, given, expected in (
        ("a kernel of", [found.domain[each.kernel] for each in windows], KERNEL_TAPS),
        ("strides of", [each.stride for each in windows], 1),
        ("dilations of", [each.dilation for each in windows], 1),
    ):
        if given != [expected, expected]:
            shown, wanted = (" × ".join(map(str, each)) for each in (given, (expected, expected)))
            return f"it has {what} {shown}, and the algorithm is for {wanted}"
    return windows[0], windows[1]


def _image_order(
    image: Access, lead: Sequence[int], windows: tuple[Window, Window], shape: Shape
) -> tuple[int, ...] | str:
    """The axes of the image in the order of the axes `lead`, then rows and columns; or why it is not read so.

    Axes of one element may be missing on either side; those of the image stand in front.
    """
    moved, sizes = "its image is moved, cut or padded with numbers on the way", tensor_type(image.source.type).shape
    rows = [axes.axis(each.outer, shape) + axes.axis(each.kernel, shape) - each.pad for each in windows]
    left, order, none = list(range(len(sizes))), list[int](), axes.constant(0)
    for axis, row in (*((axis, axes.axis(axis, shape)) for axis in lead), *((None, row) for row in rows)):
        at = next((place for place in left if image.map[place] == row), None)
        if at is None and row == none:
            continue
        if at is None or (axis is not None and sizes[at] != shape[axis]):
            return moved
        order.append(at)
        left.remove(at)
    if any(image.map[at] != none or sizes[at] != 1 for at in left):
        return moved
    padded = {(row, sizes[at], 0.0) for row, at in zip(rows, order[-2:], strict=True)}
    if any((each.expression, each.size, float(each.value)) not in padded for each in image.guards):
        return moved
    return (*left, *order)


# --- errors -----------------------------------------------------------------------------------------------------------


def winograd_terms(reduce: tiny.ReduceOp) -> int:
    """The terms of a sum whose bound is that of Winograd's algorithm for a sum over windows; 0 of any other reduction.

    With u = 2^-24 and products of at most 1, the sum of n of them in f32 is off by at most n u times the sum of their
    magnitudes, so by n² u. By the algorithm, with C = n / 9 channels, each product of transformed elements has at most
    4 roundings from the kernel, 2 from the image, C from the sum, and 4 from the way back: C + 10. The magnitudes that
    are added up for a place are 64 C at most: |Aᵀ| (|G| 1 ⊙ |Bᵀ| 1), with vectors of ones, is 8 along each axis. So it
    is off by at most 64 C (C + 10) u, which is the bound of n terms 64 (C + 10) / (81 C) times: as if there were
    64 (C + 10) / 9 of them. In the kernel that sums up channels for a point, all of its terms are channels.
    """
    parent = reduce.operation.parent
    assert parent is not None  # it stands in a function or a kernel
    if ALGORITHM in parent.attributes and parent.attributes[ALGORITHM] == ir.StringAttr.get(WINOGRAD):
        shape = tensor_type(reduce.operand.type).shape
        return _terms_of([shape[axis] for axis in reduce.axes])
    found = detect_contraction(reduce)
    if isinstance(found, Rejected) or isinstance(windows := _windows(found), str):
        return 0
    taps = {window.kernel for window in windows}
    return _terms_of([found.domain[axis] for axis in found.reduced if axis not in taps])


def _terms_of(channels: Sequence[Dim]) -> int:
    count = extents.product(channels)
    return -(-64 * (count + 10) // 9) if isinstance(count, int) else 0
