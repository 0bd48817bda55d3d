"""The GPUs whose time is told: one table for each, every number with its unit, its source, and how it is known.

In: a device's name. Out: a `Device`, whose numbers are `Figure`s: floats that say where they are from.

Standings: "measured" was published by somebody who measured it, "specified" by the vendor, "derived" follows from other
numbers by arithmetic, "fitted" was chosen so that published times are met (its source says which), "assumed" is none of
these. Cycles are those of the SM's clock.
"""

from dataclasses import dataclass, fields, replace
from typing import Self

from ptxsim.errors import InputError, suggest
from ptxsim.parsing.target import Target


class Figure(float):
    """A number with its unit, its standing, one of those above, and its source."""

    unit: str
    standing: str
    source: str

    def __new__(cls, value: float, unit: str, standing: str, source: str) -> Self:
        """The number `value` with what is known of it."""
        figure = super().__new__(cls, value)
        figure.unit, figure.standing, figure.source = unit, standing, source
        return figure

    def __getnewargs__(self) -> tuple[float, str, str, str]:
        """What it is made of again, in another process say."""
        return float(self), self.unit, self.standing, self.source


_GUIDE = "CUDA C++ Programming Guide, compute capabilities"
_LUO = "Luo et al., arXiv 2402.13499"
_LUO_2 = "Luo et al., arXiv 2501.12084"
_HUERTA = "Huerta et al., MICRO 2025, on an RTX A6000"
_SASS = "control codes of ptxas 13.0"
_LOGS = "HPMLL/NVIDIA-Hopper-Benchmark, logs"
_GA102 = "NVIDIA Ampere GA102 whitepaper"
_RTX_3070 = "Accel-Sim configuration SM86_RTX3070"


@dataclass(frozen=True)
class Device:
    """One product: what its SMs do in a cycle, how long things take, what memory gives, and how it is clocked."""

    name: str
    title: str
    arch: str

    # --- what there is ------------------------------------------------------------------------------------------------
    sms: Figure
    subpartitions: Figure
    warps_per_sm: Figure
    ctas_per_sm: Figure
    registers_per_sm: Figure
    shared_bytes_per_sm: Figure
    shared_bytes_reserved: Figure

    # --- warp-instructions of a sub-partition: cycles from one to the next --------------------------------------------
    fma_interval: Figure
    alu_interval: Figure
    mufu_interval: Figure
    conversion_interval: Figure
    f16x2_interval: Figure
    f64_interval: Figure
    mma_16816_interval: Figure
    #: Multiply-adds of f16 by one sub-partition's tensor core in a cycle, by wgmma.
    wgmma_macs: Figure

    # --- cycles from issue to result ----------------------------------------------------------------------------------
    mma_latency: Figure
    mufu_latency: Figure
    shared_latency: Figure
    ldmatrix_latency: Figure
    shuffle_latency: Figure
    l1_latency: Figure
    l2_latency: Figure
    l2_far_latency: Figure
    memory_latency: Figure
    memory_far_latency: Figure
    tma_latency: Figure
    wgmma_tail: Figure

    # --- synchronisation, cycles --------------------------------------------------------------------------------------
    barrier_latency: Figure
    mbarrier_try: Figure
    mbarrier_arrive: Figure
    #: From one lane that arrives to the next: the unit that counts arrivals takes them one after the other.
    mbarrier_lane_interval: Figure
    mbarrier_wake: Figure
    remote_arrive: Figure
    cluster_barrier: Figure

    # --- bytes and instructions in a cycle ----------------------------------------------------------------------------
    lsu_interval: Figure
    #: Of a sub-partition: memory instructions that have issued and wait, and cycles from one's addresses to the next's.
    lsu_queue: Figure
    lsu_address_interval: Figure
    shared_bytes_per_cycle: Figure
    l1_bytes_per_cycle: Figure
    #: From one line of L1 whose tags are looked at to the next, cycles of an SM.
    l1_tag_interval: Figure
    #: L1 and shared memory of an SM together.
    l1_bytes: Figure
    l2_port_bytes_per_cycle: Figure
    l2_bytes_per_cycle: Figure
    #: How many times that it gives loads that need no coherence: copies past L1, read-only ones.
    l2_read_only_factor: Figure
    l2_bytes: Figure
    l2_partitions: Figure
    #: Of all partitions; each serves one line at a time.
    l2_slices: Figure
    memory_bytes_per_second: Figure
    #: The share of it that kernels that only read reach.
    memory_efficiency: Figure
    tma_issue_interval: Figure

    # --- the launch and the clock -------------------------------------------------------------------------------------
    launch_seconds: Figure
    cta_start: Figure
    #: From the end of a CTA to the first instruction of the one that takes its place.
    cta_replace: Figure
    nominal_hz: Figure
    tensor_flops_per_second: Figure
    f32_flops_per_second: Figure
    #: The clock at which tensor cores that are always busy stay within the power limit, with random operands.
    sustained_hz: Figure
    #: The same of f32 multiply-adds.
    sustained_f32_hz: Figure
    #: How far the speeds of published kernels are missed on average, relative.
    model_error: Figure

    @property
    def figures(self) -> dict[str, Figure]:
        """Its numbers by name."""
        pairs = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in pairs if isinstance(value, Figure)}

    @property
    def memory_bytes_per_cycle(self) -> float:
        """What memory gives the whole chip in a cycle of the nominal clock."""
        return self.memory_bytes_per_second * self.memory_efficiency / self.nominal_hz


def _specified(value: float, unit: str, source: str) -> Figure:
    return Figure(value, unit, "specified", source)


def _measured(value: float, unit: str, source: str) -> Figure:
    return Figure(value, unit, "measured", source)


def _derived(value: float, unit: str, source: str) -> Figure:
    return Figure(value, unit, "derived", source)


def _fitted(value: float, unit: str, source: str) -> Figure:
    return Figure(value, unit, "fitted", source)


def _assumed(value: float, unit: str, source: str) -> Figure:
    return Figure(value, unit, "assumed", source)


_COMMON = {
    "warps_per_sm": _specified(64, "warps", _GUIDE),
    "ctas_per_sm": _specified(32, "CTAs", _GUIDE),
    "f16x2_interval": _specified(1, "cycles", f"{_GUIDE}: 256 results in a cycle"),
    "shared_latency": _measured(29.0, "cycles", f"{_LUO}, table IV"),
    "mbarrier_try": _assumed(20, "cycles", "no publication was found"),
    "mbarrier_arrive": _assumed(20, "cycles", "no publication was found"),
    "mbarrier_lane_interval": _fitted(0.5, "cycles", "fast.cu's kernels 3 to 6 on H100, whose threads all arrive"),
    "mbarrier_wake": _assumed(30, "cycles", "no publication was found"),
    "subpartitions": _specified(4, "of an SM", _GUIDE),
    "registers_per_sm": _specified(65536, "32-bit registers", _GUIDE),
    "shared_bytes_reserved": _specified(1024, "bytes of a CTA", _GUIDE),
    "alu_interval": _specified(2, "cycles", f"{_GUIDE}: 64 results of int32 add, logic, shift, compare in a cycle"),
    "mufu_interval": _specified(8, "cycles", f"{_GUIDE}: 16 results in a cycle; {_SASS}: stall 8"),
    "conversion_interval": _specified(8, "cycles", f"{_GUIDE}: 16 results in a cycle"),
    "mufu_latency": _measured(23, "cycles", "Accel-Sim configurations SM80_A100 and SM90_H100"),
    "ldmatrix_latency": _assumed(33, "cycles", "as published for sm_120"),
    "shuffle_latency": _assumed(24, "cycles", "as a shared load without the data array"),
    "barrier_latency": _assumed(22, "cycles", "20 to 30 are told; no publication was found"),
    "lsu_interval": _measured(2, "cycles", f"{_HUERTA}: one memory instruction of an SM in 2 cycles"),
    "lsu_queue": _measured(
        5, "instructions of a sub-partition", f"{_HUERTA}, table 1: four and the one at its addresses"
    ),
    "lsu_address_interval": _measured(4, "cycles", f"{_HUERTA}, table 1"),
    "shared_bytes_per_cycle": _specified(128, "bytes of an SM", f"{_GUIDE}: 32 banks of 4 bytes"),
    "l1_tag_interval": _assumed(1, "cycles", "no publication was found; a request of 32 lines is told to take 32"),
    "cta_start": _assumed(700, "cycles", "no publication was found; start, first instruction fetches, parameters"),
    "cta_replace": _assumed(300, "cycles", "no publication was found; as a start whose instructions are cached"),
}

_AMPERE = {
    **_COMMON,
    "l2_read_only_factor": _measured(
        1.5,
        "times the rate",
        "smallscientist1/cuda_microbenchmark, analysis_A100: 3840 bytes in a cycle of LDGSTS.BYPASS",
    ),
    "shared_bytes_per_sm": _specified(164 * 1024, "bytes", _GUIDE),
    "l1_bytes_per_cycle": _measured(106.8, "bytes of an SM", f"{_LUO}, loads of 16 bytes"),
    "l1_bytes": _specified(192 * 1024, "bytes of an SM, shared memory among them", "NVIDIA A100 whitepaper"),
    "fma_interval": _specified(2, "cycles", f"{_GUIDE}: 64 results in a cycle"),
    "f64_interval": _specified(4, "cycles", f"{_GUIDE}: 32 results in a cycle"),
    "mma_16816_interval": _derived(8, "cycles", f"{_SASS}: stall 8, which is the specified peak"),
    "wgmma_macs": _derived(256, "f16 multiply-adds of a sub-partition", "no wgmma: as by mma.sync"),
    "mma_latency": _measured(24.6, "cycles", f"{_LUO}, table VII"),
    "l1_latency": _measured(37.9, "cycles", f"{_LUO}, table IV"),
    "l2_latency": _measured(261.5, "cycles", f"{_LUO}, table IV; near 203 to 208, far 357"),
    "l2_far_latency": _measured(356.6, "cycles", _LUO_2),
    "memory_latency": _measured(466.3, "cycles", f"{_LUO}, table IV"),
    "memory_far_latency": _measured(623, "cycles", _LUO_2),
    "tma_latency": _assumed(500, "cycles", "no TMA: never used"),
    "wgmma_tail": _assumed(30, "cycles", "no wgmma: never used"),
    "remote_arrive": _assumed(190, "cycles", "no clusters: never used"),
    "cluster_barrier": _assumed(190, "cycles", "no clusters: never used"),
    "tma_issue_interval": _assumed(8, "cycles", "no TMA: never used"),
    "l2_port_bytes_per_cycle": _assumed(64, "bytes of an SM", "as H100"),
    "l2_partitions": _specified(2, "partitions", "NVIDIA A100 whitepaper"),
}

_HOPPER = {
    **_COMMON,
    "l2_read_only_factor": _assumed(1, "times the rate", "the rate is that of bulk copies"),
    "shared_bytes_per_sm": _specified(228 * 1024, "bytes", _GUIDE),
    "l1_bytes_per_cycle": _measured(124.1, "bytes of an SM", f"{_LUO}, loads of 16 bytes on H800"),
    "l1_bytes": _specified(256 * 1024, "bytes of an SM, shared memory among them", "NVIDIA H100 whitepaper"),
    "fma_interval": _specified(1, "cycles", f"{_GUIDE}: 128 results in a cycle"),
    "f64_interval": _specified(2, "cycles", f"{_GUIDE}: 64 results in a cycle"),
    "mma_16816_interval": _measured(6, "cycles", f"{_SASS}: stall 6; {_LUO}, table VII: 65 % of the peak"),
    "wgmma_macs": _measured(512, "f16 multiply-adds of a sub-partition", f"{_LUO}, table VIII: n256 in 128.0 cycles"),
    "mma_latency": _measured(24.1, "cycles", f"{_LUO}, table VII"),
    "l1_latency": _measured(40.7, "cycles", f"{_LUO}, table IV"),
    "l2_latency": _measured(263.0, "cycles", f"{_LUO}, table IV; near 258, far 414"),
    "l2_far_latency": _measured(414, "cycles", _LUO_2),
    "memory_latency": _measured(570, "cycles", f"as published for H100 SXM; {_LUO}, table IV: 478.8 on H800"),
    "memory_far_latency": _measured(744, "cycles", _LUO_2),
    "tma_latency": _assumed(500, "cycles", f"{_LOGS} TMA/Latency: 365 in L2 for a small box, 500 to 734 beyond"),
    "wgmma_tail": _assumed(30, "cycles", "from the last product to its registers; no publication was found"),
    "remote_arrive": _derived(190, "cycles", f"{_LOGS} DSM/Latency: 181 within a TPC, 201 to 210 otherwise"),
    "cluster_barrier": _derived(190, "cycles", "as a message between two SMs"),
    "tma_issue_interval": _assumed(8, "cycles", "no publication was found"),
    "l2_port_bytes_per_cycle": _assumed(64, "bytes of an SM", "what DeepGEMM, sm90.hpp, computes with"),
    "l2_partitions": _specified(2, "partitions", "NVIDIA H100 whitepaper"),
}

#: Compute capability 8.6: half of the tensor cores' rate of 8.0, twice the f32 rate, less of all memories.
_AMPERE_86 = {
    **_AMPERE,
    "warps_per_sm": _specified(48, "warps", _GUIDE),
    "ctas_per_sm": _specified(16, "CTAs", _GUIDE),
    "shared_bytes_per_sm": _specified(100 * 1024, "bytes", _GUIDE),
    "l1_bytes_per_cycle": _measured(64, "bytes of an SM", f"{_HUERTA}: loaded data comes back at 64 B in a cycle"),
    "l1_bytes": _specified(128 * 1024, "bytes of an SM, shared memory among them", _GA102),
    "fma_interval": _specified(1, "cycles", f"{_GUIDE}: 128 results in a cycle, 64 of them also of int32 multiply-add"),
    "f16x2_interval": _specified(2, "cycles", f"{_GUIDE}: 128 results in a cycle"),
    "f64_interval": _specified(64, "cycles", f"{_GUIDE}: 2 results in a cycle"),
    "mma_16816_interval": _derived(16, "cycles", f"{_GA102}: 512 f16 multiply-adds of an SM in a cycle, sums in f32"),
    "wgmma_macs": _derived(128, "f16 multiply-adds of a sub-partition", "no wgmma: as by mma.sync"),
    "mma_latency": _derived(32.6, "cycles", "A100's, and 8 cycles more of the pipe"),
    "shared_latency": _measured(23, "cycles", f"{_HUERTA}, table 2: 23 to 26 by width"),
    "ldmatrix_latency": _assumed(29, "cycles", "as A100's beside its shared loads"),
    "l1_latency": _measured(33, "cycles", f"{_HUERTA}, table 2: 29 to 38 by width and address"),
    "l2_latency": _assumed(220, "cycles", f"{_RTX_3070}: 187 behind L1, whose 33 come before"),
    "l2_far_latency": _assumed(220, "cycles", "one partition: as near"),
    "memory_latency": _assumed(474, "cycles", f"{_RTX_3070}: 254 behind L2"),
    "memory_far_latency": _assumed(474, "cycles", "one partition: as near"),
    "l2_partitions": _assumed(1, "partitions", f"{_GA102} tells of none"),
}

_A100 = Device(
    name="a100",
    title="A100 SXM4 80 GB",
    arch="sm_80",
    sms=_specified(108, "SMs", "NVIDIA A100 whitepaper"),
    l2_bytes_per_cycle=_measured(
        2560,
        "bytes of the chip",
        f"smallscientist1/cuda_microbenchmark, analysis_A100: a sector of each of 80 slices in a cycle; {_LUO}: 2007.9",
    ),
    l2_bytes=_specified(40 * 2**20, "bytes", "NVIDIA A100 whitepaper"),
    l2_slices=_specified(80, "slices", "NVIDIA A100 whitepaper: 5120 bytes in a cycle by 80 slices"),
    memory_bytes_per_second=_specified(2.039e12, "bytes / s", "NVIDIA A100 data sheet, 80 GB SXM"),
    memory_efficiency=_assumed(0.9, "of the peak", "copies are told to reach about 90 %"),
    launch_seconds=_assumed(2.5e-6, "s", "as H100; Accel-Sim: 5000 cycles, 3.5e-6"),
    nominal_hz=_specified(1.41e9, "Hz", "NVIDIA A100 data sheet, boost"),
    tensor_flops_per_second=_specified(312e12, "f16 FLOP / s", "NVIDIA A100 data sheet"),
    f32_flops_per_second=_specified(19.5e12, "FLOP / s", "NVIDIA A100 data sheet"),
    sustained_hz=_fitted(1.26e9, "Hz", "cuBLAS at 0.88 of the peak, pipes 0.98 busy: xudoong/GEMM's column, 8192"),
    sustained_f32_hz=_assumed(1.41e9, "Hz", "the nominal clock: f32 products are told to come near the peak"),
    model_error=_measured(0.21, "relative", "bench/clock.py, xudoong/GEMM; of k10 to k12 from 4096 on 4 %"),
    **_AMPERE,
)
_H100 = Device(
    name="h100",
    title="H100 SXM5 80 GB",
    arch="sm_90a",
    sms=_specified(132, "SMs", "NVIDIA H100 data sheet"),
    l2_bytes_per_cycle=_assumed(6154, "bytes of the chip", "what DeepGEMM, sm90.hpp, computes with; others 3942, 5650"),
    l2_bytes=_specified(50 * 2**20, "bytes", "NVIDIA H100 whitepaper"),
    l2_slices=_assumed(96, "slices", "about as many of its 50 MB as the A100 has of 40 MB"),
    memory_bytes_per_second=_specified(3.35e12, "bytes / s", "NVIDIA H100 data sheet"),
    memory_efficiency=_measured(0.92, "of the peak", "sums of 2^30 numbers reach 3.24e12, softmax 3.01e12"),
    launch_seconds=_assumed(2.5e-6, "s", "the smallest kernels of a graph take 2.0e-6 to 2.4e-6, of a stream 4e-6"),
    nominal_hz=_assumed(1.755e9, "Hz", "the boost of H800 and H100 PCIe; SXM goes up to 1.98e9"),
    tensor_flops_per_second=_specified(989.4e12, "f16 FLOP / s", "NVIDIA H100 data sheet"),
    f32_flops_per_second=_specified(66.9e12, "FLOP / s", "NVIDIA H100 data sheet"),
    sustained_hz=_fitted(1.5e9, "Hz", "fast.cu's kernels 7 to 12, whose tensor pipes are 0.89 to 0.95 busy"),
    sustained_f32_hz=_assumed(1.755e9, "Hz", "the nominal clock: f32 products are told to come near the peak"),
    model_error=_measured(0.1, "relative", "bench/clock.py: sums 11 %, softmax 4 %, fast.cu, on which is fitted, 3 %"),
    **_HOPPER,
)
_H200 = replace(
    _H100,
    name="h200",
    title="H200 SXM5 141 GB",
    sms=_specified(132, "SMs", "NVIDIA H200 data sheet"),
    l2_bytes_per_cycle=_assumed(6154, "bytes of the chip", "as H100"),
    l2_bytes=_measured(60 * 2**20, "bytes", "as the driver tells it, one machine"),
    l2_slices=_assumed(96, "slices", "as H100"),
    memory_bytes_per_second=_specified(4.8e12, "bytes / s", "NVIDIA H200 data sheet"),
    memory_efficiency=_measured(0.9, "of the peak", "a copy reaches 4.3e12 bytes / s, one machine"),
    launch_seconds=_assumed(2.5e-6, "s", "as H100"),
    nominal_hz=_assumed(1.755e9, "Hz", "as H100; 1.98e9 was read on one machine"),
    tensor_flops_per_second=_specified(989.4e12, "f16 FLOP / s", "NVIDIA H200 data sheet"),
    f32_flops_per_second=_specified(66.9e12, "FLOP / s", "NVIDIA H200 data sheet"),
    sustained_hz=_derived(1.49e9, "Hz", "cuBLAS at 788e12 FLOP / s with random operands, pipes 0.96 busy at 1.52e9"),
    sustained_f32_hz=_assumed(1.755e9, "Hz", "as H100"),
    model_error=_assumed(0.12, "relative", "as H100, of whose kernels more is published"),
)
_A6000 = Device(
    name="a6000",
    title="RTX A6000 48 GB",
    arch="sm_86",
    sms=_specified(84, "SMs", _GA102),
    l2_bytes_per_cycle=_assumed(
        1536, "bytes of the chip", f"{_RTX_3070}: 128 of each of its 32-bit memory controllers"
    ),
    l2_bytes=_specified(6 * 2**20, "bytes", _GA102),
    l2_slices=_derived(24, "slices", "64 of its bytes in a cycle by each, as on A100"),
    memory_bytes_per_second=_specified(768e9, "bytes / s", "NVIDIA RTX A6000 data sheet"),
    memory_efficiency=_assumed(0.9, "of the peak", "as A100"),
    launch_seconds=_assumed(2.5e-6, "s", "as H100"),
    nominal_hz=_specified(1.8e9, "Hz", "NVIDIA RTX A6000 data sheet, boost"),
    tensor_flops_per_second=_specified(154.8e12, "f16 FLOP / s", f"{_GA102}, RTX A6000"),
    f32_flops_per_second=_specified(38.7e12, "FLOP / s", "NVIDIA RTX A6000 data sheet"),
    sustained_hz=_assumed(
        1.41e9, "Hz", "its base clock: no publication of the clock under load within 300 W was found"
    ),
    sustained_f32_hz=_assumed(1.41e9, "Hz", "its base clock: f32 products of cuBLAS reach 0.6 of the peak at 1.8e9"),
    model_error=_measured(0.18, "relative", "bench/clock.py, SGEMM_CUDA"),
    **_AMPERE_86,
)
DEVICES = {each.name: each for each in (_A100, _H100, _H200, _A6000)}


def device_of(name: str) -> Device:
    """The device of a name, "a100" or "h100" say.

    Raises:
        InputError: there is none of this name.
    """
    if name not in DEVICES:
        raise InputError(f"there is no device '{name}'{suggest(name, DEVICES)}; there are {', '.join(DEVICES)}")
    return DEVICES[name]


def require_target(device: Device, target: str) -> None:
    """Check that code for a target, such as "sm_90a", runs on a device.

    Raises:
        InputError: it does not; says on which it does.
    """
    if not Target.of(device.arch).has(target):
        fitting = [each.name for each in DEVICES.values() if Target.of(each.arch).has(target)]
        there = f"; take the device {' or '.join(fitting)}" if fitting else "; no device of the clock runs it"
        raise InputError(f"the PTX is for {target}, and {device.title} is {device.arch}{there}")
