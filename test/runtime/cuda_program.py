"""A program for a fake driver, with its kernels: `z = (x + 1) * y`, in three launches."""

import numpy as np

from runtime.fake_driver import FakeDriver
from tinyc.expr.extents import parse_extent
from tinyc.runtime.program import Buffer, ExtentValue, KernelLaunch, Pointer, Program, Status
from tinyc.vocabulary.element_type import ElementType

PTX = ".version 8.0\n.target sm_80\n"
SHAPE, SIZE, BLOCKS = (parse_extent("M"),), parse_extent("4*M"), parse_extent("(M - 1) floordiv 256 + 1")


def kernel(symbol, generation, reads, writes, *, status=None, grid=(BLOCKS, 1, 1)):
    pointers = [Pointer(name, ElementType.F32, SHAPE) for name in dict.fromkeys((*reads, *writes))]
    slot = [] if status is None else [Status(status)]
    block, one = (256, 1, 1), (1, 1, 1)
    parameters = (*pointers, *slot, ExtentValue(parse_extent("M")))
    return KernelLaunch(symbol, generation, grid, block, one, 0, parameters, tuple(reads), tuple(writes))


def program(**options) -> Program:
    """Return `z = (x + 1) * y`: the sum lies in the arena, and `z` is first a copy of `y` and then updated."""
    names = ("input_0", "input_1", "output_0")
    buffers = [Buffer(name, name.partition("_")[0], "device", 0, SIZE, ElementType.F32, SHAPE) for name in names]
    arena = [Buffer("temp_0", "arena", "device", parse_extent("64*M"), SIZE, ElementType.F32, SHAPE)]
    kernels = (
        kernel("add_one", 0, ["input_0"], ["temp_0"], **options),
        kernel("copy", 0, ["input_1"], ["output_0"], status=0),
        kernel("times", 1, ["temp_0", "output_0"], ["output_0"], status=1),
    )
    return Program("main", ("M",), ("x", "y"), ("z",), (), (*buffers, *arena), kernels, parse_extent("68*M"))


def add_one(driver, grid, parameters):
    source, target, count = parameters
    driver.array(target, count)[:] = driver.array(source, count) + 1


def copy(driver, grid, parameters):
    source, target, status, count = parameters
    assert driver.array(status, 2, np.int64).tolist() == [0, 0]
    driver.array(target, count)[:] = driver.array(source, count)


def times(driver, grid, parameters):
    factor, target, _, count = parameters
    driver.array(target, count)[:] *= driver.array(factor, count)


KERNELS = {"add_one": (3, add_one), "copy": (4, copy), "times": (4, times)}
X, Y = np.arange(300, dtype=np.float32), np.linspace(0, 1, 300, dtype=np.float32)


def fake(**options) -> FakeDriver:
    return FakeDriver(**{"kernels": KERNELS, **options})
