"""`mma`, `ldmatrix`, `stmatrix`, `movmatrix` in the engine: where registers and rows go, and what is found.

Expected values are worked out from the figures of the ISA: with g = lane / 4 and t = lane mod 4, register i of a matrix
of 16-bit elements holds row g, columns 2 t and 2 t + 1.
"""

import numpy as np
import pytest

from ptxsim import PtxError
from ptxsim_cases.kernel_text import kernel, kinds, launch

_POINTERS = ".param .u64 x, .param .u64 out"
_LANE = np.arange(32)
#: %d0: the word of this thread in `out`, %d1: its 16 bytes in `x`, %r1: its 16 bytes in `tile`.
_PLACES = """ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;
add.u64 %d0, %d0, %d2; mul.wide.u32 %d2, %r0, 16; add.u64 %d1, %d1, %d2;
mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2;
"""
_FILL = "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1]; st.shared.v4.u32 [%r1], {%r4, %r5, %r6, %r7}; bar.sync 0;\n"


def _run(body: str, x: np.ndarray, threads: int = 32, count: int = 1, fill: str = _FILL, dtype: type = np.uint32):
    """The report, and `out`: [count, threads] words."""
    out = np.full((count, threads), 0xA5A5A5A5, np.uint32).view(dtype)
    module = f".shared .align 16 .b8 tile[{threads * 16}];"
    return launch(kernel(_PLACES + fill + body + "\nret;", _POINTERS, module), [x, out], threads), out


def _stores(registers: list[str], threads: int = 32) -> str:
    return " ".join(f"st.global.b32 [%d0+{4 * threads * i}], {name};" for i, name in enumerate(registers))


def _rows(generator: np.random.Generator, count: int = 32) -> np.ndarray:
    """Rows of 8 elements of 16 bits."""
    return generator.integers(0, 2**16, (count, 8)).astype(np.uint16)


def _pairs(matrix: np.ndarray) -> np.ndarray:
    """What the lanes hold of an 8 x 8 matrix."""
    row, column = _LANE // 4, _LANE % 4 * 2
    return matrix[row, column] | matrix[row, column + 1].astype(np.uint32) << np.uint32(16)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("space", [".shared", ".shared::cta"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_gives_each_lane_a_pair_of_its_row(count, transposed, space):
    x = _rows(np.random.default_rng(count))
    registers = [f"%r{10 + i}" for i in range(count)]
    words = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}{space}.b16"
    report, out = _run(f"{words} {{{', '.join(registers)}}}, [%r1];" + _stores(registers), x, count=count)
    assert report.ok, str(report)
    for number, matrix in enumerate(x.reshape(4, 8, 8)[:count]):
        assert (out[number] == _pairs(matrix.T if transposed else matrix)).all()


def test_ldmatrix_takes_a_generic_address_of_shared_memory():
    x = _rows(np.random.default_rng(0))
    body = "cvt.u64.u32 %d4, %r1; cvta.shared.u64 %d4, %d4; ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%d4];"
    report, out = _run(body + _stores(["%r10"]), x)
    assert report.ok, str(report)
    assert (out[0] == _pairs(x[:8])).all()


def test_ldmatrix_of_global_memory_is_out_of_bounds():
    report, _ = _run("ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%d1];", _rows(np.random.default_rng(0)))
    assert kinds(report) == {"out-of-bounds"}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_writes_the_rows_whose_pairs_the_lanes_hold(count, transposed):
    x = np.random.default_rng(count).integers(0, 2**32, (32, 4)).astype(np.uint32)
    sources = ", ".join(f"%r{4 + i}" for i in range(count))
    words = f"stmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.shared.b16"
    body = f"""ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d1]; {words} [%r1], {{{sources}}}; bar.sync 0;
    setp.lt.u32 %p0, %r0, {8 * count}; @%p0 ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r1];
    @%p0 st.global.b32 [%d0], %r10; @%p0 st.global.b32 [%d0+128], %r11;
    @%p0 st.global.b32 [%d0+256], %r12; @%p0 st.global.b32 [%d0+384], %r13;"""
    report, out = _run(body, x, count=4, fill="")
    assert report.ok, str(report)
    halves = np.ascontiguousarray(out.T[: 8 * count]).view(np.uint16).reshape(count, 8, 8)
    for number in range(count):
        matrix = halves[number].T if transposed else halves[number]
        assert (_pairs(matrix) == x[:, number]).all()


def test_movmatrix_transposes_across_the_lanes():
    matrix = _rows(np.random.default_rng(1), 8)
    x = np.zeros((32, 4), np.uint32)
    x[:, 0] = _pairs(matrix)
    body = "ld.global.u32 %r4, [%d1]; movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;" + _stores(["%r5"])
    report, out = _run(body, x, fill="")
    assert report.ok, str(report)
    assert (out[0] == _pairs(matrix.T)).all()


_MMA = """mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
{%r10, %r11, %r12, %r13}, {%r4, %r5}, {%r6}, {%r7, %r7, %r7, %r7};"""
_LOAD = "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];\n"


def _mma_inputs(generator: np.random.Generator, warps: int) -> tuple[np.ndarray, np.ndarray]:
    """The registers of A, B and the one of C, [lanes, 4], and D [warps, 16, 8], for m16n8k8 of f16."""
    x, products = [], []
    for _ in range(warps):
        a, b = (
            generator.integers(-8, 9, (16, 8)).astype(np.float16),
            generator.integers(-8, 9, (8, 8)).astype(np.float16),
        )
        c = np.full(32, 3, np.float32).view(np.uint32)
        halves = (_pairs(a[:8].view(np.uint16)), _pairs(a[8:].view(np.uint16)), _pairs(b.T.view(np.uint16)), c)
        x.append(np.stack(halves, axis=1))
        products.append(a.astype(np.float32) @ b.astype(np.float32) + 3)
    return np.concatenate(x), np.stack(products)


def test_mma_of_several_warps():
    x, products = _mma_inputs(np.random.default_rng(2), 3)
    body = _LOAD + _MMA + _stores(["%r10", "%r11", "%r12", "%r13"], 96)
    report, out = _run(body, x, 96, count=4, fill="", dtype=np.float32)
    assert report.ok, str(report)
    row, column = _LANE // 4, _LANE % 4 * 2
    for warp, product in enumerate(products):
        lanes = out[:, warp * 32 : warp * 32 + 32]
        for register, (down, right) in enumerate(((0, 0), (0, 1), (8, 0), (8, 1))):
            assert (lanes[register] == product[row + down, column + right]).all()


def test_lanes_that_came_by_different_ways_multiply_together():
    x, products = _mma_inputs(np.random.default_rng(3), 1)
    way = "setp.lt.u32 %p0, %r0, 9; @%p0 bra low; mov.u32 %r20, 1; low:"
    report, out = _run(_LOAD + way + _MMA + _stores(["%r10"]), x, fill="", dtype=np.float32)
    assert report.ok, str(report)
    assert (out[0] == products[0][_LANE // 4, _LANE % 4 * 2]).all()


def test_lanes_that_never_come_to_an_mma_are_found():
    x, _ = _mma_inputs(np.random.default_rng(4), 1)
    body = _LOAD + "setp.lt.u32 %p0, %r0, 9; @%p0 bra end;" + _MMA + "end: bar.sync 0;"
    report, _ = _run(body, x, fill="")
    assert kinds(report) & {"deadlock", "barrier-divergence"}


@pytest.mark.parametrize("body", [_MMA, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r1];"])
def test_lanes_that_have_exited_do_not_multiply_or_load(body):
    x, _ = _mma_inputs(np.random.default_rng(4), 1)
    report, _ = _run("setp.lt.u32 %p0, %r0, 9; @%p0 exit;" + body, x)
    assert kinds(report) == {"barrier-divergence"}


def test_a_warp_that_is_not_full_does_not_multiply():
    x, _ = _mma_inputs(np.random.default_rng(4), 2)
    report, _ = _run(_LOAD + _MMA, x, 40, fill="")
    assert kinds(report) == {"barrier-divergence"}


@pytest.mark.parametrize(
    ("change", "fill", "kind"),
    [
        ("add.u32 %r1, %r1, 8;", _FILL, "misaligned"),
        ("add.u32 %r1, %r1, 256;", _FILL, "out-of-bounds"),
        ("add.u32 %r1, %r1, 0xfffff000;", _FILL, "out-of-bounds"),
        ("", "", "uninitialized"),
    ],
)
def test_a_bad_row_of_ldmatrix_is_found(change, fill, kind):
    x = _rows(np.random.default_rng(5))
    report, _ = _run(change + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r1];", x, fill=fill)
    assert kinds(report) == {kind}


def test_the_addresses_of_lanes_without_a_row_are_not_looked_at():
    x = _rows(np.random.default_rng(6))
    body = "setp.gt.u32 %p0, %r0, 7; @%p0 mov.u32 %r1, 3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];"
    report, _ = _run(body, x)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("change", "conflicts"), [("", 0), ("and.b32 %r2, %r0, 7; shl.b32 %r2, %r2, 7; add.u32 %r1, %r2, tile;", 7)]
)
def test_rows_in_the_same_banks_conflict(change, conflicts):
    x = _rows(np.random.default_rng(7), 64)
    words = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];"
    report, _ = _run(change + words, x, 64)
    assert report.ok, str(report)
    line = next(n for n in report.counters.passes if report.counters.passes[n].opcode == "ldmatrix")
    assert report.counters.bank_conflicts[line] == 2 * conflicts
    assert report.counters.read["shared", 16] == 2 * 8 * 16


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10}, [%r1];", "takes 2 registers here, not 1"),
        ("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r10}, [%r1];", "needs one count"),
        ("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r10}, [%d1];", "is unknown here"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r10}, {%r4, %r5}, {%r6}, {%r7};", "takes 4 registers"),
        ("movmatrix.sync.aligned.m8n8.trans.b16 %r10;", "takes 2 operands, not 1"),
        ("mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r10}, {%r4, %r5}, {%r6}, {%r7};", "is unknown here"),
    ],
)
def test_forms_that_do_not_exist_are_refused(body, message):
    with pytest.raises(PtxError, match=message):
        launch(kernel(_PLACES + body, _POINTERS, ".shared .align 16 .b8 tile[512];"), [])


def test_an_undefined_row_of_a_makes_that_row_of_d_undefined():
    # %r5 holds rows 8 to 15 of A: nobody writes it
    x, products = _mma_inputs(np.random.default_rng(8), 1)
    load = "ld.global.v4.u32 {%r4, _, %r6, %r7}, [%d1];"
    report, out = _run(load + _MMA + _stores(["%r10", "%r11"]), x, count=2, fill="", dtype=np.float32)
    assert report.ok, str(report)
    assert (out[0] == products[0][_LANE // 4, _LANE % 4 * 2]).all()
    report, _ = _run(load + _MMA + _stores(["%r12"]), x, fill="", dtype=np.float32)
    assert kinds(report) == {"uninitialized"}
    assert "comes from '%r5'" in report.findings[0].message


_THERE_AND_BACK = """stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r1], {%r4, %r20};
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r1]; movmatrix.sync.aligned.m8n8.trans.b16 %r12, %r11;"""


@pytest.mark.parametrize(("register", "found"), [("%r10", set()), ("%r12", {"uninitialized"})])
def test_undefined_registers_come_back_from_shared_memory(register, found):
    x = _rows(np.random.default_rng(9))
    report, _ = _run(_LOAD + _THERE_AND_BACK + _stores([register]), x, fill="")
    assert kinds(report) == found
