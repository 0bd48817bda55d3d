"""Where instructions run, and how long until a use."""

import pytest

from ptxsim.clock.sass.pipes import Pipe, Rank, fixed_latency, pipe_of, rank_of, tensor_shape
from ptxsim_cases.sass_text import sass_function


def instruction(text, **control):
    return sass_function((1, text, control)).instructions[0]


@pytest.mark.parametrize(
    ("text", "pipe", "latency"),
    [
        ("FFMA R1, R2, R3, R1", Pipe.FMA, 4),
        ("IMAD.WIDE R2, R3, 0x4, R4", Pipe.FMA, 5),
        ("IMAD.HI R2, R3, R5, RZ", Pipe.FMA, 6),
        ("LOP3.LUT R1, R2, 0x1f, RZ, 0xc0, !PT", Pipe.ALU, 4),
        ("F2FP.F16.F32.PACK_AB R1, R2, R3", Pipe.ALU, 5),
        ("ISETP.GE.AND P0, PT, R1, RZ, PT", Pipe.ALU, 13),
        ("HFMA2 R1, R2, R3, R4", Pipe.HALF, 6),
        ("HFMA2.MMA R1, R2, R3, R4", Pipe.HALF, 10),
        ("UIADD3 UR4, UR4, 0x1, URZ", Pipe.UNIFORM, 6),
        ("HMMA.16816.F32 R4, R8, R12, R4", Pipe.TENSOR, 24),
        ("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24", Pipe.TENSOR, None),
        ("UTMALDG.2D [UR4], [UR8]", Pipe.TMA, None),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", Pipe.ADDRESS, None),
        ("@P0 BRA `(.L_x_0)", Pipe.BRANCH, None),
        ("STG.E [R8.64], R1", Pipe.LSU, None),
        ("NOP", Pipe.NONE, None),
    ],
)
def test_an_instruction_has_a_pipe_and_a_latency(text, pipe, latency):
    each = instruction(text)
    assert (pipe_of(each), fixed_latency(each)) == (pipe, latency)


def test_what_a_scoreboard_tells_has_no_fixed_latency():
    each = instruction("MUFU.EX2 R1, R2", write=0)
    assert (pipe_of(each), fixed_latency(each)) == (Pipe.MUFU, None)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("HMMA.16816.F32 R4, R8, R12, R4", (16, 8, 16)),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", (16, 8, 8)),
        ("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", (16, 8, 32)),
        ("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24", (64, 128, 16)),
        ("FFMA R1, R2, R3, R1", None),
    ],
)
def test_a_tensor_instruction_has_its_shape(text, shape):
    assert tensor_shape(instruction(text)) == shape


def test_a_move_by_a_product_anchors_nothing():
    assert rank_of(instruction("HFMA2.MMA R1, -RZ, RZ, 0, 0")) is Rank.NONE
    assert rank_of(instruction("HFMA2.MMA R1, R2, R3, R4")) is Rank.ARITHMETIC
    assert rank_of(instruction("LDS.128 R4, [R8]")) is Rank.MERGED
    assert rank_of(instruction("LDSM.16.M88.4 R4, [R8]")) is Rank.SINGLE
