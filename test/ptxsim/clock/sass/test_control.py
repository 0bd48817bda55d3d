"""The control code: rows of a disassembly for sm_90a that were decoded by hand."""

import pytest

from ptxsim.clock.sass.control import ControlCode, decode_control


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        # S2R R2, SR_TID.X: bits from 105 on are 0x717 = 0111 000 1 0111: stall 7, yield bit set, write 0, read 7 (none)
        (0x0000000000027919, 0x000E2E0000002100, ControlCode(7, False, 0, None, (), 0)),
        # FMNMX R0, R5, R0, !PT: 0x27eb = 000100 111 111 0 1011: stall 11, yield bit clear, waits for scoreboard 2
        (0x0000000005007209, 0x004FD60007800000, ControlCode(11, True, None, None, (2,), 0)),
        # MUFU.RCP R0, R19: 0x032 = 000000 000 001 1 0010: stall 2, write 1, read 0
        (0x0000001300007308, 0x0000640000001000, ControlCode(2, False, 1, 0, (), 0)),
        # RET.REL.NODEC R4: 0x7ff5 = 001111 111 111 1 0101: stall 5, waits for scoreboards 0 to 3
        (0xFFFFFFEC04DC7950, 0x00FFEA0003C3FFFF, ControlCode(5, False, None, None, (0, 1, 2, 3), 0)),
        # FFMA R97, R36.reuse, R32, R13: 0x20ff1 = 0001 000001 111 111 1 0001: stall 1, waits for 0, keeps operand a
        (0x0000002024617223, 0x041FE2000000000D, ControlCode(1, False, None, None, (0,), 1)),
    ],
)
def test_the_fields_stand_in_bits_105_to_125(low, high, expected):
    assert decode_control(high << 64 | low) == expected


def test_an_instruction_takes_the_issue_port_for_a_cycle_at_least():
    assert decode_control(0).stall == 0
    assert decode_control(0).issue_cycles == 1
