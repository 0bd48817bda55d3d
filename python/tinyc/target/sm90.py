"""Hopper, compute capability 9.0 with its architecture-specific instructions, and the peaks of an H100."""

from ptxsim.clock.devices import device_of
from tinyc.target.target import MatrixRates, Target

_KIB = 1024
_H100 = device_of("h100")

SM90 = Target(
    name="sm_90a",
    chip="sm_90a",
    compute_capability=(9, 0),
    is_architecture_specific=True,  # PTX ISA, ".target": sm_90a has wgmma and setmaxnreg, and runs nowhere else
    features="+ptx80",  # PTX ISA 8.0, "Release Notes": the first version that has sm_90a
    aliases=("sm90",),
    # CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability", 9.0.
    threads_per_warp=32,
    threads_per_cta=1024,
    threads_per_cta_x=1024,
    threads_per_cta_y=1024,
    threads_per_cta_z=64,
    ctas_per_grid_x=2**31 - 1,
    ctas_per_grid_y=65535,
    ctas_per_grid_z=65535,
    ctas_per_cluster=8,  # Programming Guide, on clusters: the portable size
    kernel_parameter_bytes=4096,  # Programming Guide, "Function Parameters"; more needs PTX ISA 8.1
    warps_per_sm=int(_H100.warps_per_sm),
    ctas_per_sm=int(_H100.ctas_per_sm),
    registers_per_sm=int(_H100.registers_per_sm),
    registers_per_cta=64 * _KIB,
    registers_per_thread=255,
    registers_per_warp_unit=256,  # CUDA Occupancy Calculator, register allocation unit size
    shared_bytes_per_sm=int(_H100.shared_bytes_per_sm),
    shared_bytes_per_cta_reserved=int(_H100.shared_bytes_reserved),
    shared_bytes_per_cta_static=48 * _KIB,  # Programming Guide, "Shared Memory" of compute capability 9.0
    shared_bytes_per_cta_optin=int(_H100.shared_bytes_per_sm - _H100.shared_bytes_reserved),
    shared_banks=32,
    shared_bank_bytes=4,
    # What ptxsim.clock.devices does not have is of the NVIDIA H100 Tensor Core GPU Architecture (whitepaper), table
    # "Comparison of NVIDIA A100 and H100 GPUs", SXM5.
    product="NVIDIA H100 SXM5 80 GB",
    sms=int(_H100.sms),
    l2_bytes=int(_H100.l2_bytes),
    global_bytes_per_second=float(_H100.memory_bytes_per_second),
    f32_flops_per_second=float(_H100.f32_flops_per_second),
    f64_flops_per_second=33.5e12,
    tf32_tensor_flops_per_second=494.7e12,
    f16_tensor_flops_per_second=float(_H100.tensor_flops_per_second),
    # beside a special function, the f32 pipes do so many multiply-adds of two each
    special_function_flops=int(2 * _H100.mufu_interval / _H100.fma_interval),
    # From the end of one kernel to the start of the next in a stream, of a graph's node about a third; the device's
    # `launch_seconds` are what a launch by itself adds to its kernel's cycles.
    launch_seconds=3e-6,
    matrix=MatrixRates.of(
        _H100,
        macs_per_cycle=4 * _H100.wgmma_macs,
        step_gap_cycles=_H100.mbarrier_try + _H100.wgmma_tail,
    ),
)
