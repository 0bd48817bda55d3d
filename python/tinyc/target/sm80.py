"""Ampere, compute capability 8.0, with the numbers of an A100 for the peaks."""

from tinyc.target.target import Target

_KIB = 1024

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
    warps_per_sm=64,
    ctas_per_sm=32,
    registers_per_sm=64 * _KIB,
    registers_per_cta=64 * _KIB,
    registers_per_thread=255,
    registers_per_warp_unit=256,  # CUDA Occupancy Calculator, register allocation unit size
    shared_bytes_per_sm=164 * _KIB,
    shared_bytes_per_cta_reserved=1 * _KIB,  # NVIDIA Ampere GPU Architecture Tuning Guide, "Unified Shared Memory"
    shared_bytes_per_cta_static=48 * _KIB,  # Programming Guide, "Shared Memory" of compute capability 8.x
    shared_bytes_per_cta_optin=163 * _KIB,
    shared_banks=32,
    shared_bank_bytes=4,
    # NVIDIA A100 Tensor Core GPU Architecture (whitepaper), table "Comparison of NVIDIA Data Center GPUs"; the
    # bandwidth is that of the product with 40 GB.
    product="NVIDIA A100 SXM4 40 GB",
    sms=108,
    l2_bytes=40 * _KIB**2,
    global_bytes_per_second=1555e9,
    f32_flops_per_second=19.5e12,
    f64_flops_per_second=9.7e12,
    tf32_tensor_flops_per_second=156e12,
    f16_tensor_flops_per_second=312e12,
    special_function_flops=8,  # Programming Guide, "Arithmetic Instructions": 16 a clock beside 64 lanes of two each
    launch_seconds=3e-6,  # the order of a launch in a stream; of a graph's node about a third
)
