"""From a launch to its time: what is recorded, replayed and carried over to the grid, and what is refused."""

import numpy as np
import pytest

from ptxsim.clock import timing
from ptxsim.clock.devices import device_of
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.timing import estimate_launch
from ptxsim.clock.uncertainty import uncertainties_of
from ptxsim.errors import InputError
from ptxsim_cases.case_launch import shape_and_arguments
from ptxsim_cases.cases import CASES
from ptxsim_cases.kernel_text import OWN_WORD, kernel
from ptxsim_cases.sass_text import needs_sass_tools

#: Each thread multiplies and adds 256 times, each time what it has.
CHAIN = kernel(
    f"""{OWN_WORD} .reg .f32 %f<2>; cvt.rn.f32.u32 %f0, %r0; mov.u32 %r1, 0;
again: fma.rn.f32 %f0, %f0, %f0, %f0; fma.rn.f32 %f0, %f0, %f0, %f0; add.u32 %r1, %r1, 2;
setp.lt.u32 %p0, %r1, 256; @%p0 bra again; st.global.f32 [%d0], %f0; ret;"""
)


def estimate_of(text, grid, threads, args, device="h100", **options):
    return estimate_launch(KernelLaunch(text, "k", (grid, 1, 1), (threads, 1, 1), args), device, **options)


def estimate_of_case(name, device):
    case = next(each for each in CASES if each.name == name)
    options = shape_and_arguments(case, case.arrays())
    text = case.text()
    cluster = options.get("cluster") or (1, 1, 1)
    shape = options["grid"], options["block"], options["args"], options.get("dynamic_shared_bytes", 0), cluster
    return estimate_launch(KernelLaunch(text, case.entry, *shape), device)


@needs_sass_tools
def test_a_chain_of_sums_takes_the_latency_of_each():
    out = np.zeros(32, np.float32)
    estimate = estimate_of(CHAIN, 1, 32, [out])
    h100 = device_of("h100")
    # an FFMA stalls 4 cycles on another; what starts and ends the CTA, and the loop's own, come on top
    assert 1024 < estimate.cycles - h100.cta_start < 2 * 1024
    assert estimate.seconds == estimate.nominal_seconds  # no tensor pipe is busy: the clock is the nominal one
    assert estimate.seconds == pytest.approx(estimate.cycles / h100.nominal_hz + h100.launch_seconds)
    assert (estimate.device.name, estimate.schedule.rounds, estimate.matched) == ("h100", 1, 1.0)


@needs_sass_tools
def test_rounds_of_ctas_take_as_long_each():
    out, h100 = np.zeros(1024, np.float32), device_of("h100")
    places = 132 * 2  # two CTAs of 1024 threads are 64 warps
    one, six = (estimate_of(CHAIN, count, 1024, [out]) for count in (places, 6 * places))
    assert (one.occupancy.ctas, one.occupancy.limiter) == (2, "warps")
    assert (one.schedule.rounds, six.schedule.rounds) == (1, 6)
    assert (six.schedule.clusters, six.schedule.replayed) == (12, 8)  # the last two rounds are carried over
    expected = 6 * (one.cycles - h100.cta_start) + 5 * h100.cta_replace
    # less than that: CTAs that do not start together use the pipes better
    assert 0.85 * expected < six.cycles - h100.cta_start <= expected


@needs_sass_tools
def test_a_cta_of_a_last_round_has_the_sm_for_itself():
    out, h100 = np.zeros(1024, np.float32), device_of("h100")
    one, more = (estimate_of(CHAIN, count, 1024, [out]) for count in (132 * 2, 132 * 2 + 1))
    full, alone = one.cycles - h100.cta_start, more.cycles - one.cycles - h100.cta_replace
    assert 0.4 * full < alone < full  # pipes are its own, latencies are as long


@needs_sass_tools
@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("sm80_gemm_cp_async", "a100"),
        ("softmax", "h100"),
        ("matmul_sm80", "a100"),
        ("wmma_scaled", "a100"),
        ("sm90_gemm_tma_wgmma", "h100"),
    ],
)
def test_kernels_of_the_corpus_are_found_in_their_sass(name, device):
    estimate = estimate_of_case(name, device)
    assert estimate.matched >= 0.95
    assert estimate.cycles > device_of(device).cta_start


@needs_sass_tools
def test_a_kernel_that_is_not_found_in_its_sass_is_refused(monkeypatch):
    monkeypatch.setattr(timing, "_LEAST_MATCHED", 1.01)
    with pytest.raises(InputError, match=r"not found in the SASS .*: 100% .* give a kernel whose warps all go one way"):
        estimate_of_case("wmma_scaled", "a100")


@needs_sass_tools
def test_a_copy_takes_its_bytes_and_what_each_round_of_ctas_waits_for():
    body = f"""{OWN_WORD} mov.u32 %r2, %ctaid.x; mul.wide.u32 %d3, %r2, 4096; add.u64 %d0, %d0, %d3;
    mul.wide.u32 %d3, %r0, 12; add.u64 %d0, %d0, %d3; ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d0];
    add.u32 %r4, %r4, 1; st.global.v4.u32 [%d0], {{%r4, %r5, %r6, %r7}}; ret;"""
    grid, h100 = 132 * 64, device_of("h100")  # 35 MB, which neither half of L2 holds
    estimate = estimate_of(kernel(body), grid, 256, [np.zeros(grid * 1024, np.uint32)])
    moved = 2 * grid * 4096
    assert estimate.cycles - h100.cta_start >= moved / 2 / h100.memory_bytes_per_cycle  # what is read
    assert estimate.cycles - h100.cta_start <= moved / h100.memory_bytes_per_cycle + 2 * h100.memory_latency


def test_a_device_that_is_none_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="there is no device 'v100'"):
        estimate_of(CHAIN, 1, 32, [np.zeros(32, np.float32)], device="v100")


def test_a_cluster_that_waits_for_another_one_is_refused():
    body = f"""{OWN_WORD} ld.param.u64 %d2, [out]; mov.u32 %r5, %ctaid.x; setp.eq.u32 %p0, %r5, 1; @%p0 bra set;
    look: ld.volatile.global.u32 %r6, [%d2]; setp.eq.u32 %p1, %r6, 0; @%p1 bra look; ret;
    set: ld.volatile.global.u32 %r6, [%d2]; bra on; on: st.volatile.global.u32 [%d2], 1; ret;"""
    with pytest.raises(InputError, match=r"does not end: line 1\d spins for ever.*wait for each other"):
        estimate_of(
            kernel(body), 8, 32, [np.zeros(32, np.uint32)]
        )  # the second one is not recorded: it ends when it has shown where it reads


def loop(body):
    """A loop, as often as the array's first number says; an instruction a line, as compilers write."""
    return kernel(
        f"""{OWN_WORD} .reg .f32 %f<2>; ld.global.u32 %r2, [%d0]; cvt.rn.f32.u32 %f0, %r0;
mov.u32 %r1, 0; mov.u32 %r3, %r2;
again: {body} add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r2; @%p0 bra again; st.global.f32 [%d0], %f0;
st.global.u32 [%d0 + 128], %r3; ret;"""
    ).replace("; ", ";\n")


@needs_sass_tools
def test_a_loop_of_arithmetic_alone_is_gone_through_as_often_as_it_was():
    body = "fma.rn.f32 %f0, %f0, %f0, %f0;"
    few, many = (estimate_of(loop(body), 1, 32, [np.full(64, rounds, np.uint32)]) for rounds in (64, 512))
    # a multiply-add waits 4 cycles for the one before; ptxas unrolls, so that the loop's own instructions are shared
    assert 4 <= (many.cycles - few.cycles) / 448 < 8


@needs_sass_tools
def test_a_loop_that_nothing_tells_of_is_refused():
    body = "xor.b32 %r3, %r3, %r1; shl.b32 %r3, %r3, 1;"
    with pytest.raises(InputError, match=r"\d+ instructions of SASS for \d+ of PTX: nothing in a loop of it tells"):
        estimate_of(loop(body), 1, 32, [np.full(64, 512, np.uint32)])


@needs_sass_tools
def test_arrays_that_are_in_l2_are_there_sooner():
    body = f"{OWN_WORD} ld.global.u32 %r2, [%d0]; add.u32 %r2, %r2, 1; st.global.u32 [%d0], %r2; ret;"
    warm, cold = (estimate_of(kernel(body), 4, 32, [np.zeros(128, np.uint32)], warm=warm) for warm in (True, False))
    further = device_of("h100").memory_latency - device_of("h100").l2_latency
    # all read one line: of four CTAs one waits for all of its way, the others for half of it on average
    assert cold.cycles - warm.cycles == pytest.approx((1 + 3 / 2) / 4 * further, abs=2)
    assert cold.memory_bytes > warm.memory_bytes


@pytest.mark.parametrize(("place", "is_told"), [("mul.lo.u32 %r1, %r1, %r1;", True), ("", False)])
def test_where_others_read_that_is_only_guessed_is_a_caution(place, is_told):
    index = f"mov.u32 %r1, %ctaid.x; {place} and.b32 %r1, %r1, 1023; mul.wide.u32 %d2, %r1, 128; add.u64 %d0, %d0, %d2;"
    text = kernel(f"{OWN_WORD} {index} ld.global.u32 %r2, [%d0]; st.global.u32 [%d0], %r2; ret;")
    estimate = estimate_of(text, 2048, 32, [np.zeros(32 * 1024, np.uint32)], code="weights")
    told = [each for each in estimate.cautions if "where other clusters read is put together" in each]
    assert bool(told) is is_told


def cautions(body, **options):
    return " ".join(estimate_of(kernel(f"{OWN_WORD} {body}"), 8, 32, [np.zeros(512, np.uint32)], **options).cautions)


@needs_sass_tools
def test_atomics_cost_as_loads_and_what_their_results_decide_is_uncertain():
    counts = "atom.global.add.u32 %r2, [%d0], 1;"
    alone, used = f"{counts} ret;", f"{counts} st.global.u32 [%d0 + 128], %r2; ret;"
    assert "atomic operations cost as much as loads here" in cautions(alone)
    assert "result of an atomic operation" not in cautions(alone)
    assert "line 1" in cautions(used)
    assert "has the result of an atomic operation, which is used" in cautions(used)
    uncertain = estimate_of(kernel(f"{OWN_WORD} {used}"), 8, 32, [np.zeros(512, np.uint32)])
    assert uncertain.uncertainty >= 0.5


@needs_sass_tools
def test_recorded_clusters_that_do_other_amounts_of_work_are_a_caution():
    stores = "st.volatile.global.u32 [%d0], %r1;" * 40
    body = f"mov.u32 %r2, %ctaid.x; setp.gt.u32 %p0, %r2, 0; @%p0 bra done; {stores} done: ret;"
    assert "the recorded clusters issue " in cautions(body)
    assert "the recorded clusters issue " not in cautions(f"{stores} ret;")


@needs_sass_tools
def test_a_loop_of_atomics_takes_as_many_rounds_as_it_has():
    times = [
        estimate_of(
            kernel(
                f"""{OWN_WORD} ld.param.u64 %d2, [out]; mov.u32 %r1, 0;
again: red.global.add.u32 [%d2], 1;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, {rounds};
@%p0 bra again;
ret;"""
            ),
            1,
            32,
            [np.zeros(32, np.uint32)],
        ).cycles
        for rounds in (16, 160)
    ]
    assert times[1] > times[0] + 144


@needs_sass_tools
def test_a_launch_without_ctas_is_refused_as_by_the_simulator():
    with pytest.raises(InputError, match=r"grid is \(0, 1, 1\); it has three extents from 1 to"):
        estimate_of(CHAIN, 0, 32, [np.zeros(32, np.float32)])


def test_slices_that_are_fuller_make_a_launch_uncertain_as_far_as_l2_is_busy():
    found = uncertainties_of(device_of("h100"), 1e-3, 1.755e9, {"L2": 0.5, "HBM": 0.2}, 1.0, 1.2)
    assert found["slices of L2 that are fuller than others"] == pytest.approx(0.1)
    assert found["the rates of L2 and HBM"] == pytest.approx(0.05)


@needs_sass_tools
def test_a_launch_that_aborts_itself_is_refused():
    with pytest.raises(InputError, match=r"line \d+: the kernel aborts itself with a trap; give a launch that runs"):
        estimate_of(kernel(f"{OWN_WORD} st.global.u32 [%d0], %r0; trap;"), 1, 32, [np.zeros(32, np.uint32)])
