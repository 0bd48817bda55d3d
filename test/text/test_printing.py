"""Printing IR for people: long types by aliases, which any MLIR tool reads back."""

import pytest

from tinyc import text
from tinyc.text.printing import with_aliases

MATRIX = 'tensor<?x?xf16, #tiny.dims<["M", "K"]>>'


def module(*lines):
    return "module {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def test_a_long_type_gets_an_alias_in_front_of_its_use():
    printed = with_aliases(module(f"func.func private @f({MATRIX}) -> {MATRIX}"))
    assert printed == f"!MxK_f16 = {MATRIX}\nmodule {{\n  func.func private @f(!MxK_f16) -> !MxK_f16\n}}\n"


@pytest.mark.parametrize(
    ("kind", "why"),
    [("tensor<4x3xf32>", "short"), ('tensor<4x3xf32, "a string of 24 characters">', "written once")],
)
def test_a_short_type_and_one_that_is_written_once_stay(kind, why):
    count = 1 if why == "written once" else 3
    given = module(*[f'"a.b"() {{kind = {kind}}} : () -> ()'] * count)
    assert with_aliases(given) == given


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ('tensor<1x?xf16, #tiny.dims<[1, "N"]>>', "t1xN_f16"),
        ('tensor<?xf32, #tiny.dims<["(H - 1) floordiv 2 + 1"]>>', "H_1_floordiv_2_1_f32"),
        ("memref<?xf16, #gpu.address_space<global>>", "f16_global"),
        ("memref<4x?xf32, affine_map<(d0, d1) -> (d1, d0)>>", "m4x_f32_affine_map_d0_d1_d1_d0"),
        ("!tgpu.smem<tensor<64x32xf16>, 2 : i64>", "t64x32_f16_smem"),
        ('tensor<?xf32, #tiny.dims<["' + "+".join("ABCDEFGHIJKLMNOPQRSTUVW") + '"]>>', "tensor"),
    ],
)
def test_an_alias_says_what_the_type_is(kind, name):
    given = module(*[f'"a.b"() {{kind = {kind}}} : () -> ()'] * 2)
    assert with_aliases(given).startswith(f"!{name} = {kind}\n")


def test_two_types_of_one_name_are_told_apart():
    kinds = [f'tensor<?xf32, #tiny.dims<["{extent}"]>>' for extent in ("M + N", "M * N")]
    printed = with_aliases(module(*[f'"a.b"() {{kind = {kind}}} : () -> ()' for kind in kinds * 2]))
    assert printed.startswith(f"!M_N_f32 = {kinds[0]}\n!M_N_f32_1 = {kinds[1]}\n")


def test_a_type_in_a_type_is_written_by_its_alias():
    buffer = f'!region.memref<{MATRIX}, ["K", 1], 128 : i64, true>'
    printed = with_aliases(module(f'"a.b"() {{kinds = [{buffer}, {MATRIX}]}} : ({buffer}) -> ()'))
    assert printed.startswith(
        f'!MxK_f16 = {MATRIX}\n!MxK_f16_memref = !region.memref<!MxK_f16, ["K", 1], 128 : i64, true>\nmodule'
    )


def test_what_a_string_says_stays():
    line = f'"a.b"() {{note = "{MATRIX.replace(chr(34), chr(39))} \\22 {MATRIX.replace(chr(34), chr(39))}"}} : () -> ()'
    assert with_aliases(module(line, line)) == module(line, line)


def test_aliases_that_mlir_prints_itself_stay_in_front():
    given = f"#map = affine_map<(d0) -> (d0)>\n!MxK_f16 = i32\n{module(f'func.func private @f({MATRIX}) -> {MATRIX}')}"
    printed = with_aliases(given)
    assert printed.startswith(f"#map = affine_map<(d0) -> (d0)>\n!MxK_f16 = i32\n!MxK_f16_1 = {MATRIX}\nmodule {{\n")


def test_stock_printing_has_no_aliases_and_no_names():
    parsed = text.parse(module(f"func.func @f(%x: {MATRIX}) -> {MATRIX} {{", f"  return %x : {MATRIX}", "}"))
    stock = text.print_ir(parsed, stock=True)
    assert stock == str(parsed)
    assert "%arg0" in stock
    assert text.print_ir(parsed) != stock
    assert text.print_ir(text.parse(text.print_ir(parsed)), stock=True) == stock
