"""`wgmma.mma_async`: fragments by the ISA's formulas, tiles as TMA leaves them, every N, and the immediate operands."""

import numpy as np
import pytest

from ptxsim.semantics.operation import UnknownInstruction
from ptxsim.wgmma.product import Immediates, WarpgroupMma, parse_wgmma
from ptxsim_cases.matrix_values import encoded, integers

# As the GEMM and the attention of the recipes build them; the start address is added.
A_K_MAJOR_128B = 4611686293305360384  # SBO 1024, LBO not used (1)
B_N_MAJOR_128B = 4611686293338849280  # SBO 1024, LBO 8192: panels of 64 columns, 64 rows of k each
V_N_MAJOR_128B = 4611686293372403712  # SBO 1024, LBO 16384: panels of 128 rows
PLAIN = Immediates()


def wgmma(text: str) -> WarpgroupMma:
    return parse_wgmma(("sync", "aligned", *text.split(".")))


def d_place(warp: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of D, §9.7.15.5.1.1."""
    return 16 * warp + lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2


def d_registers(matrix: np.ndarray) -> np.ndarray:
    """The registers [4, 32, r] of D [64, n], of 16- or 32-bit patterns."""
    count = matrix.shape[1] // 2
    elements = np.zeros((4, 32, count), matrix.dtype)
    for warp, lane, i in np.ndindex(elements.shape):
        elements[warp, lane, i] = matrix[d_place(warp, lane, i)]
    return elements.view(np.uint32)


def shared_with(matrix: np.ndarray, base: int, width: int = 128) -> np.ndarray:
    """Shared memory with a row-major matrix as TMA stores it in boxes of `width` bytes, swizzled by that width.

    A box follows the one to its left. The swizzle XORs the 16-byte chunk of a 128-byte line with the line's number.
    """
    memory = np.zeros(1 << 17, np.uint8)
    size = matrix.dtype.itemsize
    for row, column in np.ndindex(matrix.shape):
        panel, within = divmod(column * size, width)
        address = base + panel * matrix.shape[0] * width + row * width + within
        address ^= (address >> 7) % (width // 16) << 4
        memory[address : address + size] = matrix[row, column : column + 1].view(np.uint8)
    return memory


def chunks_at(memory: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    return memory[addresses[..., None] + np.arange(16)]


def read(
    operation: WarpgroupMma, which: str, memory: np.ndarray, descriptor: int, mn_major: bool = False
) -> np.ndarray:
    addresses = getattr(operation, f"{which}_addresses")(descriptor, mn_major)
    return getattr(operation, f"{which}_of_chunks")(chunks_at(memory, addresses), mn_major)


@pytest.mark.parametrize("text", ["f32.f16.f16", "f32.bf16.bf16", "f16.f16.f16"])
def test_a_gemm_tile_of_tma_boxes_with_the_descriptors_of_the_recipe(text: str) -> None:
    # A [64, 64] is K-major; B [64, 256] is row-major, so N-major, in four panels.
    operation, rng = wgmma(f"m64n256k16.{text}"), np.random.default_rng(7)
    a, b = integers(rng, "f16", (64, 64)), integers(rng, "f16", (64, 256))
    a_memory = shared_with(encoded(a, operation.types.a), 1024)
    b_memory = shared_with(encoded(b, operation.types.b), 16384)
    d = None
    for step in range(4):
        a_part = read(operation, "a", a_memory, A_K_MAJOR_128B + (1024 >> 4) + 2 * step)
        b_part = read(operation, "b", b_memory, B_N_MAJOR_128B + (16384 >> 4) + 128 * step, mn_major=True)
        d = operation.compute(a_part, b_part, d, PLAIN)
    np.testing.assert_array_equal(d, d_registers(encoded(a @ b, operation.types.result)))


def test_the_attention_of_the_recipe_reads_keys_k_major_and_values_n_major() -> None:
    # K [128 keys, 128] in two panels of 64: 1024 to the address field is the next one. V [128 keys, 128] likewise.
    operation, rng = wgmma("m64n128k16.f32.f16.f16"), np.random.default_rng(8)
    q, k, v = integers(rng, "f16", (64, 128)), integers(rng, "f16", (128, 128)), integers(rng, "f16", (128, 128))
    q_memory, k_memory, v_memory = (shared_with(encoded(matrix, "f16"), 4096) for matrix in (q, k, v))
    scores = output = None
    for step in range(8):
        panel, within = divmod(step, 4)
        q_part = read(operation, "a", q_memory, A_K_MAJOR_128B + 256 + 512 * panel + 2 * within)
        k_part = read(operation, "b", k_memory, A_K_MAJOR_128B + 256 + 1024 * panel + 2 * within)
        scores = operation.compute(q_part, k_part, scores, PLAIN)
        v_part = read(operation, "b", v_memory, V_N_MAJOR_128B + 256 + 128 * step, mn_major=True)
        output = operation.compute(q_part, v_part, output, PLAIN)
    np.testing.assert_array_equal(scores, d_registers(encoded(q @ k.T, "f32")))
    np.testing.assert_array_equal(output, d_registers(encoded(q @ v, "f32")))


@pytest.mark.parametrize(("mode", "width"), [(1, 128), (2, 64), (3, 32)])
@pytest.mark.parametrize(
    "text", ["k16.f32.f16.f16", "k8.f32.tf32.tf32", "k32.f32.e4m3.e5m2", "k32.f16.e5m2.e5m2", "k32.s32.u8.s8"]
)
def test_k_major_tiles_of_each_swizzle_and_type(text: str, mode: int, width: int) -> None:
    operation, rng = wgmma(f"m64n24{text}"), np.random.default_rng(9)
    types, k = operation.types, operation.shape.k * width // 32
    a, b = integers(rng, types.a, (64, k)), integers(rng, types.b, (24, k))
    a_memory, b_memory = shared_with(encoded(a, types.a), 2048, width), shared_with(encoded(b, types.b), 2048, width)
    d = None
    for step in range(width // 32):
        descriptor = (2048 + 32 * step) >> 4 | 1 << 16 | (8 * width >> 4) << 32 | mode << 62
        d = operation.compute(
            read(operation, "a", a_memory, descriptor), read(operation, "b", b_memory, descriptor), d, PLAIN
        )
    np.testing.assert_array_equal(d, d_registers(encoded(a @ b.T, types.result)))


@pytest.mark.parametrize(("mode", "width"), [(1, 128), (2, 64), (3, 32)])
def test_both_mn_major_in_each_swizzle(mode: int, width: int) -> None:
    # A^T [16, 64] and B [16, 96] row-major: panels of `width` bytes are 16 rows apart.
    operation, rng = wgmma("m64n96k16.f32.bf16.bf16"), np.random.default_rng(10)
    a, b = integers(rng, "bf16", (64, 16)), integers(rng, "bf16", (16, 96))
    descriptor = 1024 >> 4 | (16 * width >> 4) << 16 | (8 * width >> 4) << 32 | mode << 62
    a_part = read(operation, "a", shared_with(encoded(a.T, "bf16"), 1024, width), descriptor, mn_major=True)
    b_part = read(operation, "b", shared_with(encoded(b, "bf16"), 1024, width), descriptor, mn_major=True)
    d = operation.compute(a_part, b_part, None, PLAIN)
    np.testing.assert_array_equal(d, d_registers(encoded(a @ b, "f32")))


def a_place(bits: int, lane: int, i: int) -> tuple[int, int]:
    """Row (in the warp's 16) and column of element i of A in registers, §9.7.15.5.1.1."""
    group, thread = lane // 4, lane % 4
    if bits == 32:
        return (group, group + 8, group, group + 8)[i], thread + (0 if i < 2 else 4)
    if bits == 16:
        return group + (0 if i in (0, 1, 4, 5) else 8), 2 * thread + (i & 1) + (0 if i < 4 else 8)
    return group + (0 if i < 4 or 8 <= i < 12 else 8), 4 * thread + (i & 3) + (0 if i < 8 else 16)


@pytest.mark.parametrize("text", ["k16.f32.f16.f16", "k8.f32.tf32.tf32", "k32.f32.e4m3.e4m3", "k32.s32.s8.s8"])
def test_a_in_registers(text: str) -> None:
    operation, rng = wgmma(f"m64n8{text}"), np.random.default_rng(11)
    bits = encoded(integers(rng, operation.types.a, (64, operation.shape.k)), operation.types.a)
    width = bits.dtype.itemsize * 8
    elements = np.zeros((4, 32, 128 // width), bits.dtype)
    for warp, lane, i in np.ndindex(elements.shape):
        row, column = a_place(width, lane, i)
        elements[warp, lane, i] = bits[16 * warp + row, column]
    registers = elements.view(np.uint32)
    assert operation.a_registers == registers.shape[-1] == 4
    np.testing.assert_array_equal(operation.a_of_registers(registers), bits)


@pytest.mark.parametrize("n", range(8, 257, 8))
def test_every_n(n: int) -> None:
    operation, rng = wgmma(f"m64n{n}k16.f32.f16.f16"), np.random.default_rng(n)
    a, b, c = integers(rng, "f16", (64, 16)), integers(rng, "f16", (16, n)), integers(rng, "f32", (64, n))
    d = operation.compute(encoded(a, "f16"), encoded(b, "f16"), d_registers(encoded(c, "f32")), PLAIN)
    assert operation.d_registers == d.shape[-1] == n // 2
    np.testing.assert_array_equal(d, d_registers(encoded(a @ b + c, "f32")))


def test_two_warpgroups_at_once() -> None:
    operation, rng = wgmma("m64n16k16.f16.f16.f16"), np.random.default_rng(12)
    a, b, c = (integers(rng, "f16", (2, *shape)) for shape in ((64, 16), (16, 16), (64, 16)))
    before = np.stack([d_registers(encoded(part, "f16")) for part in c])
    d = operation.compute(encoded(a, "f16"), encoded(b, "f16"), before, PLAIN)
    np.testing.assert_array_equal(d, [d_registers(encoded(part, "f16")) for part in a @ b + c])


@pytest.mark.parametrize(("scale_a", "scale_b"), [(1, -1), (-1, 1), (-1, -1)])
def test_negation_of_a_and_b(scale_a: int, scale_b: int) -> None:
    operation, rng = wgmma("m64n8k16.f32.f16.f16"), np.random.default_rng(13)
    a, b, c = integers(rng, "f16", (64, 16)), integers(rng, "f16", (16, 8)), integers(rng, "f32", (64, 8))
    d = operation.compute(
        encoded(a, "f16"), encoded(b, "f16"), d_registers(encoded(c, "f32")), Immediates(scale_a, scale_b)
    )
    np.testing.assert_array_equal(d, d_registers(encoded(c + scale_a * scale_b * (a @ b), "f32")))


@pytest.mark.parametrize(
    ("text", "a_in_registers", "names"),
    [
        ("m64n8k16.f32.f16.f16", False, ("scale_a", "scale_b", "trans_a", "trans_b")),
        ("m64n8k16.f32.bf16.bf16", True, ("scale_a", "scale_b", "trans_b")),
        ("m64n8k8.f32.tf32.tf32", False, ("scale_a", "scale_b")),
        ("m64n8k32.f16.e4m3.e5m2", True, ("scale_a", "scale_b")),
        ("m64n8k32.s32.s8.u8", False, ()),
    ],
)
def test_the_operands_after_scale_d(text: str, a_in_registers: bool, names: tuple[str, ...]) -> None:
    operation = wgmma(text)
    values = tuple(-1 if name.startswith("scale") else 1 for name in names)
    found = operation.immediates(values, a_in_registers)
    assert operation.immediate_names(a_in_registers) == names
    assert found == PLAIN._replace(**dict(zip(names, values, strict=True)))


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("m64n8k16.f32.f16.f16", (1, 1), "has 4 operands after scale-d .*, not 2"),
        ("m64n8k32.s32.s8.s8", (1, 1), r"has 0 operands after scale-d \(none\), not 2"),
        ("m64n8k16.f32.f16.f16", (0, 1, 0, 0), "imm-scale-a is 0; it is -1 or 1"),
        ("m64n8k16.f32.f16.f16", (1, 1, 0, -1), "imm-trans-b is -1; it is 0 or 1"),
    ],
)
def test_wrong_operands_after_scale_d(text: str, values: tuple[int, ...], message: str) -> None:
    with pytest.raises(UnknownInstruction, match=message):
        wgmma(text).immediates(values, a_in_registers=False)
