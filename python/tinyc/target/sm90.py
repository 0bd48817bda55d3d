"""Hopper, compute capability 9.0 with its architecture-specific instructions, and the peaks of an H100."""

from tinyc.target.target import Target

_KIB = 1024

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
    warps_per_sm=64,
    ctas_per_sm=32,
    registers_per_sm=64 * _KIB,
    registers_per_cta=64 * _KIB,
    registers_per_thread=255,
    registers_per_warp_unit=256,  # CUDA Occupancy Calculator, register allocation unit size
    shared_bytes_per_sm=228 * _KIB,
    shared_bytes_per_cta_reserved=1 * _KIB,  # NVIDIA Hopper Tuning Guide, "Unified Shared Memory/L1/Texture Cache"
    shared_bytes_per_cta_static=48 * _KIB,  # Programming Guide, "Shared Memory" of compute capability 9.0
    shared_bytes_per_cta_optin=227 * _KIB,
    shared_banks=32,
    shared_bank_bytes=4,
    # NVIDIA H100 Tensor Core GPU Architecture (whitepaper), table "Comparison of NVIDIA A100 and H100 GPUs", SXM5.
    product="NVIDIA H100 SXM5 80 GB",
    sms=132,
    l2_bytes=50 * _KIB**2,
    global_bytes_per_second=3352e9,
    f32_flops_per_second=66.9e12,
    f64_flops_per_second=33.5e12,
    tf32_tensor_flops_per_second=494.7e12,
    f16_tensor_flops_per_second=989.4e12,
    special_function_flops=16,  # Programming Guide, "Arithmetic Instructions": 16 a clock beside 128 lanes of two each
    launch_seconds=3e-6,  # the order of a launch in a stream; of a graph's node about a third
)
