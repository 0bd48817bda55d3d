"""The operations of a kernel by the weights of its PTX's classes, with neither ptxas nor nvdisasm."""

import numpy as np
import pytest

from ptxsim.clock.code_source import CODE_VARIABLE, between_bounds, code_in_use
from ptxsim.clock.devices import device_of
from ptxsim.clock.replay import operations
from ptxsim.clock.sass import toolchain
from ptxsim.clock.timing import KernelLaunch, estimate_launch
from ptxsim.clock.weighed_code import BOUNDS, WEIGHTS, weighed_code
from ptxsim.errors import InputError
from ptxsim_cases.case_launch import shape_and_arguments
from ptxsim_cases.cases import CASES
from ptxsim_cases.kernel_text import OWN_WORD, kernel

H100 = device_of("h100")
#: Each thread multiplies and adds 256 times, each time what it has.
CHAIN = f"""{OWN_WORD} .reg .f32 %f<2>; cvt.rn.f32.u32 %f0, %r0; mov.u32 %r1, 0;
again: {"fma.rn.f32 %f0, %f0, %f0, %f0; " * 8} add.u32 %r1, %r1, 8;
setp.lt.u32 %p0, %r1, 256; @%p0 bra again; st.global.f32 [%d0], %f0; ret;"""
PRODUCT = """mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6},
{%f1, %f2, %f3, %f4};"""


@pytest.fixture
def no_tools(monkeypatch):
    """There is neither ptxas nor nvdisasm."""
    monkeypatch.delenv(CODE_VARIABLE, raising=False)
    for module in ("ptxsim.clock.code_source", "ptxsim.clock.sass.toolchain"):
        monkeypatch.setattr(f"{module}.find_program", lambda name: None)
    return toolchain


def code_of(body, bound="expected", device=H100, threads=32):
    return weighed_code(kernel(body), "k", device, threads, bound)


def kinds_of(body, bound="expected"):
    """The operations that are not plain."""
    return [each for each in code_of(body, bound).operations if each.kind != operations.PLAIN]


def estimate_of(body, grid=1, threads=32, **options):
    launch = KernelLaunch(kernel(body), "k", (grid, 1, 1), (threads, 1, 1), [np.zeros(threads, np.uint32)])
    return estimate_launch(launch, **options)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ld.global.u32 %r1, [%d0];", operations.GLOBAL_LOAD),
        ("ld.shared.u32 %r1, [%r2];", operations.SHARED_ACCESS),
        ("st.shared.u32 [%r2], %r1;", operations.SHARED_ACCESS),
        ("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", operations.SHARED_ACCESS),
        ("st.global.u32 [%d0], %r1;", operations.GLOBAL_STORE),
        ("red.global.add.u32 [%d0], %r1;", operations.GLOBAL_STORE),
        ("atom.global.add.u32 %r1, [%d0], %r2;", operations.GLOBAL_LOAD),
        ("cp.async.ca.shared.global [%r1], [%d0], 4;", operations.COPY_IN),
        ("cp.async.commit_group;", operations.COMMIT),
        ("cp.async.wait_group 1;", operations.BOARD_WAIT),
        ("bar.sync 0;", operations.SYNC),
        ("mbarrier.arrive.shared.b64 %d1, [%r1];", operations.SYNC),
        ("wgmma.wait_group.sync.aligned 1;", operations.GROUP_WAIT),
        ("cvt.rn.f32.u32 %r1, %r2;", operations.VARIABLE),
        ("vote.sync.ballot.b32 %r1, %p0, -1;", operations.VARIABLE),
    ],
)
@pytest.mark.parametrize("bound", BOUNDS)
def test_what_more_than_computes_is_there_once_at_every_bound(text, kind, bound):
    text = text.replace("%r1, %r2;", "%f1, %r2;") if text.startswith("cvt") else text
    body = f".reg .f32 %f<4>; {text} ret;"
    assert [each.kind for each in kinds_of(body, bound)] == [kind]


def test_a_wait_leaves_as_many_groups_open_as_it_says():
    commit, wait = kinds_of("cp.async.commit_group; cp.async.wait_group 2; ret;")
    assert (wait.count, wait.board) == (2, commit.write)
    everything = kinds_of("cp.async.wait_all; ret;")
    assert [(each.kind, each.count) for each in everything] == [(operations.COMMIT, 0), (operations.BOARD_WAIT, 0)]
    assert kinds_of("wgmma.wait_group.sync.aligned 3; ret;")[0].count == 3


def test_a_result_is_waited_for_by_its_first_use():
    code = code_of(
        "ld.global.u32 %r1, [%d0]; ld.global.u32 %r2, [%d1]; add.u32 %r3, %r1, %r2; st.global.u32 [%d0], %r3; ret;"
    )
    one, other = (each for each in code.operations if each.kind == operations.GLOBAL_LOAD)
    assert one.write == other.write >= 0  # both are used first by the sum
    waiting = [each.kind for each in code.operations if one.write in each.waits]
    assert waiting
    assert set(waiting) <= {operations.PLAIN, operations.GLOBAL_STORE}


def test_at_the_upper_bound_there_are_six_scoreboards():
    body = " ".join(f"ld.global.u32 %r{at}, [%d0]; st.shared.u32 [%r20], %r{at};" for at in range(8)) + " ret;"
    boards = {bound: {each.write for each in kinds_of(body, bound)} - {-1} for bound in BOUNDS}
    assert (len(boards["upper"]), len(boards["expected"])) == (6, 8)


@pytest.mark.parametrize(("device", "cycles"), [("a100", 8), ("h100", 6)])
def test_a_product_of_a_warp_takes_its_tensor_pipe(device, cycles):
    code = code_of(f".reg .f32 %f<8>; {PRODUCT} ret;", device=device_of(device))
    (product,) = (each for each in code.operations if each.pipe == operations.TENSOR)
    assert (product.kind, product.interval) == (operations.PLAIN, cycles)
    assert max(each.tensor for each in code.flops) == 2 * 16 * 8 * 16


def test_the_last_product_of_a_warpgroup_ends_its_group():
    accumulators = "{" + ", ".join(f"%f{at}" for at in range(4)) + "}"
    product = f"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {accumulators}, %d0, %d1, 1, 1, 1, 0, 0;"
    commit, wait = "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"
    found = kinds_of(f".reg .f32 %f<4>; wgmma.fence.sync.aligned; {product} {product} {commit} {wait} ret;")
    assert [(each.kind, each.ends_group) for each in found] == [
        (operations.PRODUCT, False),
        (operations.PRODUCT, True),
        (operations.GROUP_WAIT, False),
    ]
    # 16 rows of a sub-partition × 8 × 16 at 512 multiply-adds are 4 cycles; reading A and B, (64 + 8) * 32 bytes, 18
    assert found[0].interval == 18
    assert found[0].shared_bytes == 72 * 32 / 4


def test_a_group_that_ends_behind_a_jump_takes_no_time_of_its_own():
    body = "@%p0 bra on; on: wgmma.commit_group.sync.aligned; ret;"
    (end,) = kinds_of(body)
    assert (end.kind, end.interval, end.ends_group) == (operations.PRODUCT, 0, True)


@pytest.mark.parametrize(("bound", "count"), [("expected", 16), ("lower", 0), ("upper", 32)])
def test_of_twenty_integer_sums_ptxas_drops_four(bound, count):
    sums = " ".join(f"add.u32 %r{at}, %r{at}, 1;" for at in range(20))
    with_sums, without = (len(code_of(f"{body} ret;", bound).operations) for body in (sums, ""))
    assert with_sums - without == count


def test_a_chain_of_sums_takes_the_latency_of_each_without_any_tool(no_tools):
    estimate = estimate_of(CHAIN)
    assert estimate.source == WEIGHTS
    least, most = estimate.cycles_between or (0, 0)
    assert least <= estimate.cycles <= most
    assert 1024 < estimate.cycles - H100.cta_start < 2 * 1024  # 4 cycles each; the loop's own come on top
    assert estimate.other_flops == 256 * 2 * 32
    assert estimate.uncertainties["no ptxas and no nvdisasm: class weights"] == pytest.approx(
        (most - least) / 12**0.5 / estimate.cycles
    )
    assert "pip install 'tinyc[clock]'" in estimate.cautions[0]


@pytest.mark.parametrize(
    ("name", "device"),
    [("sm80_gemm_cp_async", "a100"), ("softmax", "h100"), ("sm90_gemm_tma_wgmma", "h100"), ("wmma_scaled", "a100")],
)
def test_kernels_of_the_corpus_have_a_time_between_bounds(no_tools, name, device):
    case = next(each for each in CASES if each.name == name)
    options = shape_and_arguments(case, case.arrays())
    cluster = options.get("cluster") or (1, 1, 1)
    shape = options["grid"], options["block"], options["args"], options.get("dynamic_shared_bytes", 0), cluster
    estimate = estimate_launch(KernelLaunch(case.text(), case.entry, *shape), device)
    least, most = estimate.cycles_between or (0, 0)
    assert 0 < least <= estimate.cycles <= most
    assert estimate.matched == 1


def test_a_loop_that_tests_an_mbarrier_is_one_wait(no_tools):
    body = """.shared .align 8 .b64 bar; mov.u32 %r0, %tid.x; mov.u32 %r3, bar; setp.ne.u32 %p0, %r0, 0;
    @%p0 bra ready; mbarrier.init.shared.b64 [%r3], 1; ready: bar.sync 0; setp.lt.u32 %p0, %r0, 32;
    @%p0 bra first; again: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0; @!%p1 bra again; ret;
    first: mov.u32 %r1, 0; on: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 5000; @%p2 bra on;
    setp.ne.u32 %p0, %r0, 0; @%p0 bra out; mbarrier.arrive.shared.b64 %d2, [%r3]; out: ret;"""
    estimate = estimate_of(body, threads=64)
    (waited,) = (share for (cause, _), share in estimate.waits.items() if cause == "mbarrier")
    assert 0.4 < waited < 0.5  # one of two warps waits nearly all the time


def test_what_is_asked_for_decides(monkeypatch, no_tools):
    assert code_in_use(None) == "weights"
    assert code_in_use("sass") == "sass"
    monkeypatch.setenv(CODE_VARIABLE, "sass")
    assert (code_in_use(None), code_in_use("weights")) == ("sass", "weights")
    with pytest.raises(InputError, match="made of sass or weights, not 'guess'"):
        code_in_use("guess")


def test_weights_that_are_asked_for_say_so(monkeypatch):
    monkeypatch.setattr("ptxsim.clock.code_source.find_program", lambda name: name)
    estimate = estimate_of(CHAIN, code="weights")
    assert "no SASS asked for: class weights" in estimate.uncertainties
    assert "pip" not in estimate.cautions[0]


def test_a_kernel_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="there is no kernel 'kk'; did you mean 'k'"):
        weighed_code(kernel("ret;"), "kk", H100, 32)


def test_bounds_in_any_order_are_kept_apart(no_tools):
    expected = estimate_of(CHAIN)
    found = between_bounds({"expected": expected, "lower": expected, "upper": expected})
    assert found.cycles_between == (expected.cycles, expected.cycles)
