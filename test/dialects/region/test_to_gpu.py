"""`--region-to-gpu` where the input is too large to be written down."""

import pytest

from tinyc import pipeline, text
from tinyc.codegen.identifiers import legal_identifier
from tinyc.diagnostics import TinycError
from tinyc.target import SM80

SCALAR = "!region.memref<tensor<f32>, [], 128 : i64, true>"


def kernel(arguments: list[str], body: str) -> str:
    block = ", ".join(f"%a{position}: {kind}" for position, kind in enumerate(arguments))
    return f'"region.kernel"() ({{\n^bb0({block}):\n{body}\nomp.terminator\n}}) {{sym_name = "k"}} : () -> ()'


def lowered(source: str) -> str:
    module = text.parse(source)
    pipeline.parse("region-to-gpu").run(module)
    return str(module)


def sum_of(inputs: int) -> str:
    """Return a kernel that adds up scalars."""
    lines = [f'%v{n} = "region.read"(%a{n}) : ({SCALAR}) -> tensor<f32>' for n in range(inputs)]
    lines.append('%s0 = "tiny.neg"(%v0) : (tensor<f32>) -> tensor<f32>')
    for n in range(1, inputs):
        lines.append(f'%s{n} = "tiny.add"(%s{n - 1}, %v{n}) : (tensor<f32>, tensor<f32>) -> tensor<f32>')
    lines.append(f'"region.yield"(%s{inputs - 1}, %a{inputs}) {{materialize = "gmem"}} : (tensor<f32>, {SCALAR}) -> ()')
    return kernel([SCALAR] * (inputs + 1), "\n".join(lines))


def test_a_kernel_takes_as_many_buffers_as_fit_its_parameters():
    most = SM80.kernel_parameter_bytes // 8 - 1
    assert "tgpu.map" in lowered(sum_of(most))
    with pytest.raises(TinycError, match=r"takes 513 buffers and 0 symbols, 4104 bytes of parameters") as error:
        lowered(sum_of(most + 1))
    assert error.value.name == "NoGpuKernel"


def test_a_grid_has_as_many_blocks_as_a_grid_can_have():
    buffer = "!region.memref<tensor<9000000000000xi8>, [1], 128 : i64, true>"
    body = f"""%0 = "region.read"(%a0) : ({buffer}) -> tensor<9000000000000xi8>
    "region.yield"(%0, %a1) {{materialize = "gmem"}} : (tensor<9000000000000xi8>, {buffer}) -> ()"""
    assert f"tgpu.grid = [{2**31 - 1}, 1, 1]" in lowered(kernel([buffer] * 2, body))


def test_a_number_of_elements_that_is_no_extent_is_refused():
    large = "*".join(["A"] * 24)
    tensor = f'tensor<?x?x?xf32, #tiny.dims<["{large}", "{large}", "{large}"]>>'
    buffer = f'!region.memref<{tensor}, ["{large}*{large}", "{large}", 1], 128 : i64, true>'
    body = f"""
      %0 = "region.read"(%a0) : ({SCALAR}) -> tensor<f32>
      %1 = "tiny.expand"(%0) {{broadcast_dimensions = array<i64>}} : (tensor<f32>) -> {tensor}
      "region.yield"(%1, %a1) {{materialize = "gmem"}} : ({tensor}, {buffer}) -> ()"""
    with pytest.raises(TinycError, match="its element count is not a representable extent") as error:
        lowered(kernel([SCALAR, buffer], body))
    assert error.value.name == "NoGpuKernel"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x", "x"), ("a.b", "a_b"), ("größe", "gr__e"), ("0", "n0"), ("_x", "n_x"), ("", "n"), ("WARP_SZ", "WARP_SZ_1")],
)
def test_a_name_becomes_an_identifier(name: str, expected: str):
    assert legal_identifier(name) == expected


def test_a_name_that_is_taken_gets_a_number():
    assert legal_identifier("a b", ["a_b", "a_b_1"]) == "a_b_2"


TENSOR = "tensor<512x512xf32>"
BUFFER = f"!region.memref<{TENSOR}, [512, 1], 128 : i64, true>"


@pytest.mark.parametrize(
    ("movement", "offered"),
    [("", "tgpu.in_place = [array<i64: 0, 2>, array<i64: 1, 2>]"), ("{perm = array<i64: 1, 0>}", "")],
)
def test_a_kernel_that_turns_squares_offers_no_place_since_others_read_after_it_writes(movement, offered):
    turned = f'"tiny.permute"(%r1) {movement} : ({TENSOR}) -> {TENSOR}'
    body = f"""
%r0 = "region.read"(%a0) : ({BUFFER}) -> {TENSOR}
%r1 = "region.read"(%a1) : ({BUFFER}) -> {TENSOR}
%moved = {turned if movement else f'"tiny.neg"(%r1) : ({TENSOR}) -> {TENSOR}'}
%sum = "tiny.add"(%r0, %moved) : ({TENSOR}, {TENSOR}) -> {TENSOR}
"region.yield"(%sum, %a2) {{materialize = "gmem"}} : ({TENSOR}, {BUFFER}) -> ()"""
    written = lowered(kernel([BUFFER] * 3, body))
    assert ("tgpu.transpose" in written) == bool(movement)
    assert offered in written
    assert ("tgpu.in_place" in written) == bool(offered)
