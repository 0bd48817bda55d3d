"""Convolutions on the CPU whose columns are packed in boxes: each place once, for all windows over it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import tinyc
from analysis_programs.contraction_programs import windows_of
from analysis_programs.cpu_kernels import agrees, spread, typed
from analysis_programs.region_kernels import one_kernel, one_kernel_program
from analysis_programs.tiny_programs import Program
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.window_box import WindowBox
from tinyc.diagnostics import TinycError
from tinyc.dialects.registry import context


@dataclass(frozen=True)
class Convolution:
    """Images, channels first, under filters with a bias and ReLU behind them; of each axis of images one number."""

    kernel: Sequence[int] = (3, 3)
    image: Sequence[int] = (20, 24)
    pad: Sequence[int] = (0, 0)
    stride: Sequence[int] = (1, 1)
    dilation: Sequence[int] = (1, 1)
    channels: int = 5
    filters: int = 40
    batch: int = 1
    element: str = "f32"

    @property
    def program(self) -> Program:
        """The program."""
        sizes = [" ".join(map(str, each)) for each in (self.image, self.kernel)]
        p = Program(
            x=f"{self.element} {self.batch} {self.channels} {sizes[0]}",
            w=f"f32 {self.filters} {self.channels} {sizes[1]}",
            bias=f"f32 {self.filters}",
        )
        rank = len(self.kernel)
        x = windows_of(p, p["x"], self.kernel, self.stride, self.dilation, self.pad)
        x = p.cast(x, element="f32")
        _, _, *places_and_window = typed(x).shape
        summed = range(2 + rank, 3 + 2 * rank)
        shape = (self.batch, self.filters, *places_and_window[:rank], self.channels, *self.kernel)
        x = p.expand(x, shape=shape, broadcast_dimensions=(0, 2 + rank, *range(2, 2 + rank), *summed[1:]))
        w = p.expand(p["w"], shape=shape, broadcast_dimensions=(1, *summed))
        y = p.sum(p.mul(x, w), *summed)
        return p.result(p.relu(p.add(y, spread(p, p["bias"], y, 0, *range(2, 2 + rank)))))


def product_of(p: Program) -> CpuProduct:
    """The product that a program is as one kernel."""
    with context():
        nest = one_kernel(p).nest
    assert isinstance(nest, CpuProduct)
    return nest


def boxed(p: Program) -> WindowBox:
    """The box that a tile of a program reads."""
    box = product_of(p).box
    assert box is not None
    return box


@pytest.mark.parametrize(
    ("convolution", "steps"),
    [
        (Convolution(), (1, 1)),
        (Convolution(pad=(1, 1), batch=3), (1, 1)),
        (Convolution(pad=(1, 1), element="f16"), (1, 1)),
        (Convolution(pad=(2, 3), dilation=(2, 3)), (2, 3)),
        (Convolution((3, 1), pad=(1, 0)), (1, 1)),
        (Convolution((1, 5), pad=(0, 2)), (1, 1)),
        (Convolution((5, 5), image=(33, 40)), (1, 1)),  # the rows of a window have a loop
        (Convolution((1, 11), image=(16, 50)), (1, 1)),  # all of it has
        (Convolution((7,), image=(150,), pad=(3,), stride=(1,), dilation=(2,)), (2,)),
        (Convolution((2, 3, 3), (4, 9, 12), (1, 1, 1), (1, 1, 1), (1, 1, 1), filters=8), (1, 1, 1)),
        (Convolution(channels=70, filters=33, image=(12, 30), pad=(1, 1)), (1, 1)),  # several panels
        (Convolution(image=(61, 56), pad=(1, 1)), (1, 1)),  # a last tile of fewer rows of the image
    ],
)
def test_windows_at_neighbouring_places_share_a_box(convolution, steps):
    p = convolution.program
    box = boxed(p)
    assert (box.window, box.steps) == (tuple(convolution.kernel), steps)
    assert agrees(p)


@pytest.mark.parametrize(
    ("convolution", "reason"),
    [
        (Convolution(stride=(2, 2), image=(41, 41)), "windows at a stride share no places with their neighbours"),
        (Convolution(stride=(1, 2), image=(20, 41)), "the same along one axis"),
        (Convolution((1, 1)), "a window of one product"),
        (Convolution((17, 17), image=(40, 40), channels=1), "a panel has no room for a window"),
        (Convolution(image=(10, 10), filters=512), "so many rows would take long for what nobody reads"),
    ],
)
def test_other_windows_are_packed_line_by_line(convolution, reason):
    p = convolution.program
    assert product_of(p).box is None, reason
    assert agrees(p)


def windowed(change) -> Program:
    """A convolution of what `change` makes of the windows, of 18 by 22 places."""
    p = Program(x="f32 1 5 20 24", w="f32 40 5 3 3")
    windows = change(p, p.pool(p["x"], kernel=(3, 3), stride=(1, 1), dilation=(1, 1)))
    shape = "1 40 18 22 5 3 3"
    left = p.expand(windows, shape=shape, broadcast_dimensions=(0, 4, 2, 3, 5, 6))
    right = p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    return p.result(p.sum(p.mul(left, right), 4, 5, 6))


def merged_and_negated(p: Program, windows):
    return p.reshape(p.neg(p.reshape(windows, shape="1 5 396 3 3")), shape="1 5 18 22 3 3")


def masked(p: Program, windows):
    ones = p.const(value=1.0, shape="1 5 17 22 3 3", element="f32")
    return p.mul(windows, p.pad(ones, lo=(0, 0, 1, 0, 0, 0), hi=(0, 0, 0, 0, 0, 0), value=0.0))


def scaled_by_product(p: Program, windows):
    numbers = p.cast(p.iota(shape="1 5 18 22 3 3", axis=5, element="i32"), element="f32")
    return p.mul(windows, numbers)


@pytest.mark.parametrize(
    ("change", "window"),
    [(merged_and_negated, None), (masked, (1, 3)), (scaled_by_product, None)],
)
def test_along_an_axis_where_more_depends_on_a_column_windows_share_nothing(change, window):
    p = windowed(change)
    box = product_of(p).box
    assert (box and box.window) == window
    assert agrees(p)


@pytest.mark.parametrize("change", [lambda p, windows: p.neg(windows), lambda p, windows: p.mul(windows, windows)])
def test_what_is_computed_of_each_element_is_packed_in_a_box(change):
    p = windowed(change)
    assert product_of(p).box is not None
    assert agrees(p)


def test_a_place_is_packed_once_for_all_windows_over_it():
    p = Convolution(image=(8, 30), pad=(1, 1)).program
    box = boxed(p)
    rows, width = box.columns
    assert width == 30
    assert box.extents == (rows + 2, 32)
    assert box.pitches == (32, 1)
    assert box.span == (rows - 1) * 32 + 30
    product = product_of(p)
    windows = 5 * box.products * product.columns.most
    assert product.workspace_sizes[0] == 5 * box.places + product.packed_columns < windows // 2


@pytest.mark.parametrize("tile", [[12, 48, 18], [40, 96, 27], [40, 480, 45]])
def test_a_plan_has_boxes_of_its_tiles(tile):
    p = Convolution(pad=(1, 1)).program
    module = one_kernel_program(p)
    assert agrees(p, tinyc.compile(module, plan={"tile": tile}))


def test_a_panel_has_whole_windows():
    p = Convolution(pad=(0, 0)).program
    with pytest.raises(TinycError, match="packed in windows of 9; choose a multiple"):
        tinyc.compile(one_kernel_program(p), plan={"tile": [40, 110, 12]})
