"""What kinds of SASS instructions take of a device."""

import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.replay import operations
from ptxsim.clock.replay.operations import PIPES, TENSOR, operation_of
from ptxsim.clock.sass.pipes import Pipe
from ptxsim_cases.sass_text import sass_function


def operation(text, device="h100", **control):
    (each,) = sass_function((3, text, control)).instructions
    return operation_of(each, device_of(device))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("IADD3 R1, R1, 0x1, RZ", operations.PLAIN),
        ("LDG.E R1, [R2.64]", operations.GLOBAL_LOAD),
        ("LDS R1, [R2]", operations.SHARED_ACCESS),
        ("STG.E [R2.64], R1", operations.GLOBAL_STORE),
        ("LDGSTS.E [R2], [R4.64]", operations.COPY_IN),
        ("LDGDEPBAR", operations.COMMIT),
        ("DEPBAR.LE SB0, 0x1", operations.BOARD_WAIT),
        ("HGMMA.64x256x16.F32 R24, gdesc[UR8], R24", operations.PRODUCT),
        ("WARPGROUP.DEPBAR.LE gsb0, 0x1", operations.GROUP_WAIT),
        ("UTMALDG.2D [UR4], [UR8]", operations.BULK),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", operations.SYNC),
        ("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", operations.SYNC),
    ],
)
def test_an_instruction_is_of_one_kind(text, kind):
    assert operation(text).kind == kind


def test_an_operation_has_its_control_code_and_its_line():
    found = operation("LDS R1, [R2]", stall=3, write=2, read=1, waits=(0, 4))
    assert (found.stall, found.write, found.read, found.waits, found.line) == (3, 2, 1, (0, 4), 3)
    none = operation("IADD3 R1, R1, 0x1, RZ", stall=0)
    assert (none.stall, none.write, none.read, none.waits) == (1, -1, -1, ())


def test_what_a_scoreboard_tells_without_memory_takes_the_latency_of_the_special_functions():
    found = operation("MUFU.EX2 R1, R2", write=0)
    assert (found.kind, PIPES[found.pipe], found.interval, found.latency) == (operations.VARIABLE, Pipe.MUFU, 8, 23)


@pytest.mark.parametrize(
    ("text", "device", "cycles"),
    [
        ("HMMA.16816.F32 R4, R8, R10, R4", "a100", 8),
        ("HMMA.1688.F32 R4, R8, R10, R4", "a100", 4),
        ("HMMA.16816.F32 R4, R8, R10, R4", "h100", 6),
        ("IMMA.16832.S8.S8 R4, R8, R10, R4", "a100", 8),
        ("HGMMA.64x256x16.F32 R24, gdesc[UR8], R24", "h100", 128),
        ("QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24", "h100", 128),
    ],
)
def test_a_product_takes_its_cycles_of_the_tensor_core(text, device, cycles):
    found = operation(text, device)
    assert (found.pipe, found.interval) == (TENSOR, cycles)


def test_waits_know_how_many_they_leave_open():
    assert operation("WARPGROUP.DEPBAR.LE gsb0, 0x1").count == 1
    found = operation("DEPBAR.LE SB3, 0x2")
    assert (found.board, found.count) == (3, 2)


def test_a_product_ends_its_group_where_it_names_the_register_of_groups():
    assert operation("HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0").ends_group
    assert not operation("HGMMA.64x256x16.F32 R24, gdesc[UR8], R24").ends_group


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("LDG.E R1, [R2.64]", 1),
        ("LDG.E.U16 R1, [R2.64]", 1),
        ("LDG.E.128 R4, [R2.64]", 4),
        ("STG.E.64 [R2.64], R4", 2),
        ("LDL.128 R4, [R1]", 4),
        ("STL [R1], R4", 1),
        ("LDC R1, c[0x0][R2]", 0),
        ("LDS.128 R4, [R2]", 0),
    ],
)
def test_an_access_moves_its_registers(text, registers):
    assert operation(text).registers == registers


@pytest.mark.parametrize(
    ("text", "read_only"),
    [
        ("LDG.E.128 R4, [R2.64]", False),
        ("LDG.E.128.CONSTANT R4, [R2.64]", True),
        ("LDGSTS.E.BYPASS.LTC128B.128 [R2], [R4.64]", True),
        ("LDGSTS.E.128 [R2], [R4.64]", False),
    ],
)
def test_what_is_read_only_or_goes_past_l1_asks_for_no_coherence(text, read_only):
    assert operation(text).read_only == read_only
