"""The resource model beside what ptxas and the launch say: registers, shared memory, CTAs of an SM."""

import functools

import pytest

from mma_kernels.plans import SHAPES, case_of, model_of, named, plan_of, ranked
from mma_kernels.sass import sass_of
from ptxsim.clock.devices import device_of
from ptxsim.clock.occupancy import occupancy_of
from ptxsim_cases.sass_text import needs_sass_tools
from tinyc.schemes.mma.resources import BARRIER_BYTES, launch_registers, mma_resources
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.target import target_of

pytestmark = needs_sass_tools

SIZES = (4096, 4096, 4096)
#: Of sm_80, how many tilings with accumulators of their own are compiled for each shape, and for `SIZES`; in CI the
#: first of some, and two of `SIZES`.
TILINGS, OF_SIZES, IN_CI = 4, 14, ((1, 4096, 4096), (4095, 4097, 4096))
#: Of sm_90a: rows and columns of a tile, accumulators of a consumer, and whether each consumer has a tile.
WITH_ROLES = (
    ((64, 256), (64, 256), "cooperative"),
    ((128, 256), (64, 256), "cooperative"),
    ((192, 160), (64, 160), "cooperative"),
    ((128, 256), (128, 128), "cooperative"),
    ((64, 256), (64, 256), "pingpong"),
    ((128, 128), (128, 128), "pingpong"),
)


def tilings():
    """Of each shape the first tilings of sm_80 with a tile and accumulators of their own, whole along k."""
    for sizes in SHAPES:
        first = {}
        for each in ranked("sm_80", sizes):
            first.setdefault((each.tiling.tile, each.tiling.unit_tile), each)
        for place, each in enumerate(list(first.values())[: OF_SIZES if sizes == SIZES else TILINGS]):
            in_ci = 2 if sizes == SIZES else 1 if sizes in IN_CI else 0
            marks = () if place < in_ci else pytest.mark.long
            yield pytest.param(sizes, each, marks=marks, id=f"{'x'.join(map(str, sizes))}-{named(each.tiling)}")


@pytest.mark.parametrize(("sizes", "each"), list(tilings()))
def test_registers_of_sm_80_are_within_10_percent_or_8(sizes, each):
    use = kernel_of(each, sizes)
    assert abs(use.registers - each.resources.registers_per_thread) <= max(8, 0.1 * use.registers)


@pytest.mark.parametrize(("sizes", "each"), list(tilings()))
def test_ctas_of_an_sm_are_those_of_the_registers_and_the_launch(sizes, each):
    model = model_of("sm_80", plan_of(each.tiling), sizes)
    multiplying = [kernel for kernel in model.lowering.program().kernels if kernel.dynamic_shared_bytes]
    shared = int(multiplying[0].dynamic_shared_bytes)
    assert shared == each.resources.shared_bytes
    occupancy = occupancy_of(device_of("a100"), each.tiling.threads, kernel_of(each, sizes).registers, shared)
    assert occupancy.ctas == each.resources.ctas_per_sm


@functools.cache
def kernel_of(each, sizes):
    """What ptxas says of the kernel that multiplies."""
    part = "" if each.tiling.finishes else "_init"
    return sass_of(model_of("sm_80", plan_of(each.tiling), sizes).text("ptx"), "sm_80", part).resources


@pytest.mark.parametrize(("sides", "unit", "schedule"), WITH_ROLES)
def test_roles_have_room_in_what_they_set(sides, unit, schedule):
    consumers = 2 if schedule == "pingpong" else sides[0] // unit[0] * (sides[1] // unit[1])
    registers = (32, 160) if consumers == 3 else (40, 232)
    tiling = MmaTiling((*sides, 64), unit, 128, stages=3, schedule=schedule, registers=registers)
    model, taken = model_of("sm_90a", plan_of(tiling), SIZES), mma_resources(tiling, case_of("sm_90a", SIZES), ())
    use = sass_of(model.text("ptx"), "sm_90a")
    assert use.resources.registers == launch_registers(tiling, target_of("sm_90a"))
    assert (use.resources.spill_store_bytes, use.resources.stack_bytes, use.warnings) == (0, 0, ())
    (kernel,) = model.lowering.program().kernels
    assert 0 <= taken.shared_bytes - kernel.dynamic_shared_bytes < BARRIER_BYTES
    occupancy = occupancy_of(
        device_of("h100"), tiling.threads, use.resources.registers, int(kernel.dynamic_shared_bytes)
    )
    assert occupancy.ctas == taken.ctas_per_sm
