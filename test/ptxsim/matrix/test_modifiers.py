"""Which matrix instructions there are: the assembler's orders of words, and the refusal of what the ISA lacks."""

import pytest

from ptxsim.matrix.instructions import matrix_operation
from ptxsim.semantics.operation import UnknownInstruction
from ptxsim.wgmma.product import parse_wgmma


def found(text: str) -> object:
    opcode, *modifiers = text.split(".")
    if modifiers[:1] == ["mma_async"]:
        return parse_wgmma(tuple(modifiers[1:]))
    return matrix_operation(opcode, tuple(modifiers))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("mma.sync.aligned.row.col.m16n8k32.s32.s8.u8.s32", "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"),
        (
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite",
            "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
        ),
        ("mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite",
            "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8",
        ),
        ("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.trans.b16"),
    ],
)
def test_words_in_other_orders_are_the_same_instruction(text: str, same: str) -> None:
    assert found(text) == found(same)


def test_satfinite_is_another_instruction() -> None:
    text = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
    assert found(text) != found(text + ".satfinite")


@pytest.mark.parametrize(
    "text", ["wgmma.fence.sync.aligned", "wgmma.wait_group.sync.aligned", "ld.shared.b32", "wgmma"]
)
def test_other_instructions_are_none(text: str) -> None:
    assert found(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mma.sync.m16n8k16.row.col.f32.f16.f16.f32", "'.aligned' is mandatory"),
        ("mma.sync.aligned.row.col.f32.f16.f16.f32", "needs a shape"),
        ("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", "A must be '.row' and B '.col'"),
        ("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", "A must be '.row' and B '.col'"),
        ("mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32", r"\.f16 has no shape \.m16n8k4 .* \.m16n8k8, \.m16n8k16"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", r"\.tf32 has no shape"),
        ("mma.sync.aligned.m16n8k8.row.col.s32.s8.s8.s32", r"\.s8 has no shape"),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", r"\.f16 has no shape \.m8n8k4"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16", r"C is \.f16 where D is \.f32"),
        ("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16", r"D cannot be \.f16 where A is \.bf16"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", r"A cannot be \.f16 where B is \.bf16"),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.e4m3.s32", r"A cannot be \.s8 where B is \.e4m3"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f32.f32.f32", r"A cannot be \.f32"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16", "needs the types of D, A, B and C"),
        ("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", r"\.s4 has no shape \.m16n8k64 .*; it has none"),
        ("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32", "'.satfinite' is unknown here"),
        ("mma.sync.aligned.m16n8k16.row.col.rz.f32.f16.f16.f32", "'.rz' is unknown here"),
        ("mma.sync.aligned.m8n8k4.row.col.rz.rn.f64.f64.f64.f64", "more than one rounding"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "'.kind::f8f6f4' is unknown here"),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "'.sp' is unknown here"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16", "'.sp' is unknown here"),
        ("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16", r"has no shape \.m64n12k16; .* in steps of 8$"),
        ("wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16", "has no shape"),
        ("wgmma.mma_async.sync.aligned.m32n8k16.f32.f16.f16", "has no shape"),
        ("wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16", "has no shape"),
        ("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8", "has no shape .* from 32 on of 16"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f64.f64.f64", r"has no shape .*; it has none"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16", r"D cannot be \.f16 where A is \.bf16"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.satfinite.f32.f16.f16", "'.satfinite' is unknown here"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc",
            r"\.b1 has no shape .*; it has none|'\.and' is unknown",
        ),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b8", "'.b16' is mandatory"),
        ("ldmatrix.sync.aligned.m8n8.x3.shared.b16", r"needs one count: \.x1, \.x2, \.x4"),
        ("ldmatrix.sync.aligned.m8n8.x2.x4.shared.b16", "needs one count"),
        ("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", "'.m8n8' is mandatory"),
        ("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8", "'.m8n8' is mandatory"),
        ("stmatrix.sync.aligned.m8n8.x4.shared::cluster.b16", "'.shared::cluster' is unknown here"),
        ("movmatrix.sync.aligned.m8n8.b16", "'.trans' is mandatory"),
    ],
)
def test_what_there_is_not_is_refused_by_its_name(text: str, reason: str) -> None:
    with pytest.raises(UnknownInstruction, match=reason) as refusal:
        found(text)
    assert text in str(refusal.value)


@pytest.mark.parametrize("n", range(8, 257, 8))
def test_integer_wgmma_above_n_32_is_in_steps_of_16(n: int) -> None:
    text = f"wgmma.mma_async.sync.aligned.m64n{n}k32.s32.u8.u8"
    if n in (8, 16, 24, 32, *range(48, 257, 16)):
        assert found(text) is not None
    else:
        with pytest.raises(UnknownInstruction):
            found(text)
