"""Small windows on the CPU whose image is held: each place is computed once, with what pads it, and none is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

import tinyc
from analysis_programs.contraction_programs import windows_of
from analysis_programs.cpu_kernels import agrees, spread, typed
from analysis_programs.region_kernels import one_kernel, one_kernel_program
from analysis_programs.tiny_programs import Program
from tinyc.analysis.loop_nest import StepNest
from tinyc.dialects.registry import context


@dataclass(frozen=True)
class Windows:
    """Windows over images, channels first: their greatest place, or the sum of places with weights of the channel."""

    kernel: Sequence[int] = (3, 3)
    image: Sequence[int] = (20, 24)
    pad: Sequence[int] = (1, 1)
    stride: Sequence[int] = (2, 2)
    dilation: Sequence[int] = (1, 1)
    channels: int = 16
    element: str = "f32"
    op: str = "sum"
    is_weighted: bool = True
    #: Of all places of a channel there is the sum, too: a step is a channel.
    has_total: bool = False

    @property
    def program(self) -> Program:
        """The program, with element-wise ops below and behind the windows."""
        sizes = [" ".join(map(str, each)) for each in (self.image, self.kernel)]
        p = Program(x=f"{self.element} 1 {self.channels} {sizes[0]}", w=f"f32 {self.channels} {sizes[1]}")
        rank = len(self.kernel)
        x = p.cast(p.relu(p["x"]), element="f32")
        x = windows_of(p, x, self.kernel, self.stride, self.dilation, self.pad)
        shape, summed = typed(x).shape, tuple(range(2 + rank, 2 + 2 * rank))
        if self.is_weighted:
            x = p.mul(x, p.expand(p["w"], shape=shape, broadcast_dimensions=(1, *summed)))
        y = p.exp2(p.op("reduce", x, op=self.op, axes=summed, element="f32"))
        if not self.has_total:
            return p.result(y)
        places = tuple(range(2, 2 + rank))
        return p.result(p.mul(y, spread(p, p.sum(y, *places), y, *places)))


def nest_of(p: Program) -> StepNest:
    """The nest of a program as one kernel."""
    with context():
        nest = one_kernel(p).nest
    assert isinstance(nest, StepNest)
    return nest


MAXIMUM = Windows(op="max", is_weighted=False)
HELD = {
    "at a stride": Windows(),
    "of many terms": Windows(kernel=(5, 5), pad=(2, 2), stride=(1, 1)),
    "far apart": Windows(kernel=(5, 5), pad=(4, 4), stride=(1, 1), dilation=(2, 2)),
    "at one stride": Windows(kernel=(5, 5), pad=(2, 2), stride=(1, 2), dilation=(2, 1)),
    "at a long stride": Windows(kernel=(4, 6), pad=(1, 3), stride=(2, 3), image=(19, 31)),
    "without pads": Windows(pad=(0, 0)),
    "of a length": Windows(kernel=(9,), image=(301,), pad=(2,), stride=(4,), dilation=(1,)),
    "of three axes": Windows(kernel=(2, 3, 3), image=(6, 9, 11), pad=(1, 1, 1), stride=(1, 2, 2), dilation=(1, 1, 1)),
    "f16": Windows(element="f16"),
    "with a total": Windows(has_total=True),
    "of many terms with a total": Windows(kernel=(5, 5), pad=(2, 2), stride=(1, 1), has_total=True),
    "greatest": MAXIMUM,
    "greatest of i32": replace(MAXIMUM, element="i32"),
    "greatest with a total": replace(MAXIMUM, has_total=True),
    "greatest, pads wider than an image": replace(MAXIMUM, kernel=(5, 5), image=(3, 4), pad=(2, 2)),
}


@pytest.mark.parametrize("windows", [pytest.param(each, id=name) for name, each in HELD.items()])
def test_windows_read_an_image_that_is_held(windows):
    p = windows.program
    (image,) = nest_of(p).steps.images
    strides = zip(windows.kernel, windows.image, windows.pad, windows.stride, windows.dilation, strict=True)
    for side, (kernel, size, pad, stride, dilation) in zip(image.sides, strides, strict=True):
        reach = (kernel - 1) * dilation + 1
        places = (size + 2 * pad - reach) // stride * stride + reach
        assert (side.stride, side.step, side.places) == (stride, dilation, places)
    model = tinyc.compile(one_kernel_program(p))
    assert "%image = memref.alloca" in model.text("loops")
    assert "scf.if" not in model.text("loops")
    assert agrees(p, model)


NOT_HELD = {
    "few terms beside each other, most of them inside": Windows(stride=(1, 1)),
    "no place of two windows": replace(MAXIMUM, stride=(3, 3)),
    "neighbours, and no pads": Windows(kernel=(5, 5), pad=(0, 0), stride=(1, 1)),
    "places that no column or product walks": Windows(kernel=(5, 5), pad=(4, 4), dilation=(2, 2)),
    "fewer channels than cores need": Windows(channels=15),
    "more than a step may hold": Windows(image=(181, 181)),
}


@pytest.mark.parametrize("windows", [pytest.param(each, id=reason) for reason, each in NOT_HELD.items()])
def test_windows_read_memory_where_an_image_is_not_worth_its_place(windows):
    p = windows.program
    assert nest_of(p).steps.windows
    assert nest_of(p).steps.images == ()
    assert agrees(p)


def test_channels_that_are_neighbours_have_no_image_of_their_own():
    p = Program(x="f32 16 20 24")
    windows = windows_of(p, p.reshape(p["x"], shape="1 16 20 24"), (3, 3), (2, 2), (1, 1), (1, 1))
    p.result(p.sum(p.permute(windows, perm=(0, 2, 3, 1, 4, 5)), 4, 5))
    assert nest_of(p).steps.images == ()
    assert agrees(p)


@pytest.mark.parametrize(("parallel", "is_held"), [([], True), ([0], True), ([0, 1], False)])
def test_a_plan_that_shares_an_image_among_turns_holds_none(parallel, is_held):
    plan = {"scheme": "cpu_rows", "arch": "cpu", "loop": {"parallelize": parallel}}
    model = tinyc.compile(Windows().program.module, plan=plan)
    assert ("%image" in model.text("loops")) == is_held


def test_turns_are_channels_by_default():
    assert nest_of(Windows(channels=300).program).turns == 300
    assert nest_of(Windows(channels=15).program).turns == 15 * 10
