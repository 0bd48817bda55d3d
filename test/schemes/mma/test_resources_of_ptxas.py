"""The resource model beside what ptxas and the launch say: registers, shared memory, CTAs of an SM."""

import pytest

from mma_kernels.plans import case_of, model_of, named, plan_of, ranked
from mma_kernels.sass import sass_of
from ptxsim.clock.devices import device_of
from ptxsim.clock.occupancy import occupancy_of
from ptxsim_cases.sass_text import needs_sass_tools
from tinyc.schemes.mma.resources import BARRIER_BYTES, launch_registers, mma_resources
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.target import target_of

pytestmark = needs_sass_tools

SIZES = (4096, 4096, 4096)
#: Of sm_80, how many tilings with accumulators of their own are compiled, and of these in CI.
TILINGS, IN_CI = 14, 2
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
    """The first tiling of each tile and accumulators of sm_80 whose operands are copied."""
    first = {}
    for each in ranked("sm_80", SIZES):
        first.setdefault((each.tiling.tile, each.tiling.unit_tile), each)
    for place, each in enumerate(list(first.values())[:TILINGS]):
        yield pytest.param(each, marks=() if place < IN_CI else pytest.mark.long, id=named(each.tiling))


@pytest.mark.parametrize("each", list(tilings()))
def test_registers_of_sm_80_are_within_10_percent_or_8(each):
    model = model_of("sm_80", plan_of(each.tiling), SIZES)
    registers, predicted = sass_of(model.text("ptx"), "sm_80").resources.registers, each.resources.registers_per_thread
    assert abs(registers - predicted) <= max(8, 0.1 * registers)


@pytest.mark.parametrize("each", list(tilings()))
def test_ctas_of_an_sm_are_those_of_the_registers_and_the_launch(each):
    model = model_of("sm_80", plan_of(each.tiling), SIZES)
    (kernel,) = model.lowering.program().kernels
    assert kernel.dynamic_shared_bytes == each.resources.shared_bytes
    registers = sass_of(model.text("ptx"), "sm_80").resources.registers
    occupancy = occupancy_of(device_of("a100"), each.tiling.threads, registers, int(kernel.dynamic_shared_bytes))
    assert occupancy.ctas == each.resources.ctas_per_sm


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
