"""Ampere, compute capability 8.0, with the numbers of an A100 for the peaks."""

from ptxsim.clock.devices import device_of
from tinyc.target.target import MatrixRates, Target

_KIB = 1024
_A100 = device_of("a100")

SM80 = Target(
    name="sm_80",
    chip="sm_80",
    compute_capability=(8, 0),
    is_architecture_specific=False,
    # PTX ISA 8.0, "Release Notes": the version that has sm_90a too, so that both targets are written in one ISA.
    features="+ptx80",
    aliases=("sm80",),
    # CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability", 8.0.
    threads_per_warp=32,
    threads_per_cta=1024,
    threads_per_cta_x=1024,
    threads_per_cta_y=1024,
    threads_per_cta_z=64,
    ctas_per_grid_x=2**31 - 1,
    ctas_per_grid_y=65535,
    ctas_per_grid_z=65535,
    ctas_per_cluster=1,  # PTX ISA, "Cluster of Cooperative Thread Arrays": from sm_90 on
    kernel_parameter_bytes=4096,  # Programming Guide, "Function Parameters"; more needs PTX ISA 8.1
    warps_per_sm=int(_A100.warps_per_sm),
    ctas_per_sm=int(_A100.ctas_per_sm),
    registers_per_sm=int(_A100.registers_per_sm),
    registers_per_cta=64 * _KIB,
    registers_per_thread=255,
    registers_per_warp_unit=256,  # CUDA Occupancy Calculator, register allocation unit size
    shared_bytes_per_sm=int(_A100.shared_bytes_per_sm),
    shared_bytes_per_cta_reserved=int(_A100.shared_bytes_reserved),
    shared_bytes_per_cta_static=48 * _KIB,  # Programming Guide, "Shared Memory" of compute capability 8.x
    shared_bytes_per_cta_optin=int(_A100.shared_bytes_per_sm - _A100.shared_bytes_reserved),
    shared_banks=32,
    shared_bank_bytes=4,
    # What ptxsim.clock.devices does not have is of the NVIDIA A100 Tensor Core GPU Architecture (whitepaper), table
    # "Comparison of NVIDIA Data Center GPUs"; the bandwidth is that of the product with 40 GB, where the device has
    # that of 80 GB.
    product="NVIDIA A100 SXM4 40 GB",
    sms=int(_A100.sms),
    l2_bytes=int(_A100.l2_bytes),
    global_bytes_per_second=1555e9,
    f32_flops_per_second=float(_A100.f32_flops_per_second),
    f64_flops_per_second=9.7e12,
    tf32_tensor_flops_per_second=156e12,
    f16_tensor_flops_per_second=float(_A100.tensor_flops_per_second),
    # beside a special function, the f32 pipes do so many multiply-adds of two each
    special_function_flops=int(2 * _A100.mufu_interval / _A100.fma_interval),
    # From the end of one kernel to the start of the next in a stream, of a graph's node about a third; the device's
    # `launch_seconds` are what a launch by itself adds to its kernel's cycles.
    launch_seconds=3e-6,
    matrix=MatrixRates.of(
        _A100,
        macs_per_cycle=4 * 16 * 8 * 16 / _A100.mma_16816_interval,
        step_gap_cycles=_A100.barrier_latency + _A100.ldmatrix_latency + _A100.mma_latency,
    ),
)
