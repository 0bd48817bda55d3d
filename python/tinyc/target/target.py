"""What a target is: the numbers of a GPU architecture that plans are validated against and costs computed from.

Every number says its unit in its name and in its description here. What the simulator's clock has of a device, too, is
read from its table (`ptxsim.clock.devices`), which says where it is from; the files of the architectures (`sm80`,
`sm90`) have the rest. Pure data.
"""

from dataclasses import dataclass

from ptxsim.clock.devices import Device
from tinyc.target.machine import Rates

_L1_LINE_BYTES = 128


@dataclass(frozen=True)
class MatrixRates:
    """What an SM does in a cycle for a matrix product, how long it waits, and at which clock its tensor cores run.

    `macs_per_cycle` are multiply-adds of f16 by all sub-partitions of an SM, by the fastest instruction that the
    architecture has. Bytes a cycle are of an SM's shared memory, of its port to L2, and of all L2 together.
    """

    hz: float
    sub_partitions: int
    macs_per_cycle: float
    shared_bytes_per_cycle: float
    l2_port_bytes_per_cycle: float
    l2_bytes_per_cycle: float
    #: From a load by threads that L2 has half of the time to its arrival in shared memory; by the copy engine, so much
    #: later.
    load_latency_cycles: float
    tma_latency_cycles: float
    #: Of an SM, from one instruction of a warp that accesses memory to the next.
    access_cycles: float
    #: Of the lines that L1 looks up, whether all of a line is read or an element.
    l1_bytes_per_cycle: float
    #: Between two tiles along k of a unit that nothing else fills: the wait for operands, and for the last products.
    step_gap_cycles: float
    cta_start_cycles: float

    @classmethod
    def of(cls, device: Device, macs_per_cycle: float, step_gap_cycles: float) -> "MatrixRates":
        """The rates of a device of the simulator's clock; what depends on the instruction is given."""
        return cls(
            hz=float(device.sustained_hz),
            sub_partitions=int(device.subpartitions),
            macs_per_cycle=macs_per_cycle,
            shared_bytes_per_cycle=float(device.shared_bytes_per_cycle),
            l2_port_bytes_per_cycle=float(device.l2_port_bytes_per_cycle),
            l2_bytes_per_cycle=device.l2_bytes_per_cycle * device.l2_read_only_factor,
            load_latency_cycles=(device.l2_latency + device.memory_latency) / 2,
            tma_latency_cycles=device.tma_latency - device.l2_latency,
            access_cycles=float(device.lsu_interval),
            l1_bytes_per_cycle=_L1_LINE_BYTES / device.l1_tag_interval,
            step_gap_cycles=step_gap_cycles,
            cta_start_cycles=float(device.cta_replace),
        )


@dataclass(frozen=True)
class Target:
    """One architecture, and one product of it whose peak numbers stand for it."""

    #: What tinyc calls it, and the processor that LLVM and ptxas are told: "sm_80", "sm_90a".
    name: str
    chip: str
    #: Of the devices that it is for, major and minor; newer ones run its code too, unless it is architecture-specific.
    compute_capability: tuple[int, int]
    is_architecture_specific: bool
    #: The PTX ISA that LLVM is told to write, as a feature: "+ptx80" is version 8.0.
    features: str
    #: Other names that mean it.
    aliases: tuple[str, ...]

    # --- what a launch may ask for ------------------------------------------------------------------------------------
    threads_per_warp: int
    threads_per_cta: int
    threads_per_cta_x: int
    threads_per_cta_y: int
    threads_per_cta_z: int
    ctas_per_grid_x: int
    ctas_per_grid_y: int
    ctas_per_grid_z: int
    #: Of a cluster that runs on every device of the architecture; 1 where there are no clusters.
    ctas_per_cluster: int
    #: Of a launch, before PTX ISA 8.1.
    kernel_parameter_bytes: int

    # --- what a multiprocessor has ------------------------------------------------------------------------------------
    warps_per_sm: int
    ctas_per_sm: int
    #: 32-bit registers; they are given out in units of `registers_per_warp_unit` for each warp.
    registers_per_sm: int
    registers_per_cta: int
    registers_per_thread: int
    registers_per_warp_unit: int
    shared_bytes_per_sm: int
    #: Of it, what the system takes for each CTA that is resident.
    shared_bytes_per_cta_reserved: int
    #: Declared in the kernel; and at most, when the launch opts in to dynamic shared memory.
    shared_bytes_per_cta_static: int
    shared_bytes_per_cta_optin: int
    shared_banks: int
    shared_bank_bytes: int

    # --- what the product does at most --------------------------------------------------------------------------------
    product: str
    sms: int
    l2_bytes: int
    global_bytes_per_second: float
    #: Dense, counting a multiply-add as two: in f32 on the CUDA cores, f64 likewise, and by tensor cores.
    f32_flops_per_second: float
    f64_flops_per_second: float
    tf32_tensor_flops_per_second: float
    f16_tensor_flops_per_second: float
    #: Of a special function, such as ex2 or rsqrt, in f32 operations; and between two kernels in a stream or graph.
    special_function_flops: int
    launch_seconds: float
    #: Of matrix products on tensor cores, by cycles.
    matrix: MatrixRates

    @property
    def rates(self) -> Rates:
        """What the cost model computes with: the f32 rate of the CUDA cores, but for products."""
        return Rates(
            bytes_per_second=self.global_bytes_per_second,
            flops_per_second=self.f32_flops_per_second,
            product_flops_per_second=2 * self.f16_tensor_flops_per_second,  # i8 has twice the rate
            special_function_flops=self.special_function_flops,
            scattered_flops=1,  # each thread has one element
            launch_seconds=self.launch_seconds,
            parallel_threads=self.sms * self.threads_per_sm // 2,
        )

    def runs_on(self, compute_capability: tuple[int, ...]) -> bool:
        """Whether a device of a compute capability runs its code."""
        exact, needed = self.is_architecture_specific, self.compute_capability
        return compute_capability == needed if exact else compute_capability >= needed

    @property
    def threads_per_sm(self) -> int:
        """How many threads are resident on a multiprocessor at most."""
        return self.warps_per_sm * self.threads_per_warp

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that means the target, its own first."""
        return (self.name, *self.aliases)
