"""What holds of a kernel whose statements go on beside its threads: who starts them, who waits, what they copy.

In: a kernel, its architecture. Out: `Malformed` for warpgroups that a CTA does not have, more registers than there are,
a tensor map whose boxes are not the tile's, an mbarrier that has no one on its other side, work that nothing waits for.
"""

import math
from collections.abc import Mapping
from typing import TypeVar

from tinyc.dialects.gpu.dialect import staged_tile
from tinyc.dialects.gpu.dynamic_memory import dynamic_bytes
from tinyc.dialects.gpu.fragment_layout import WARPGROUP_THREADS
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.launch_attributes import DYNAMIC_SHARED_BYTES, TENSOR_MAP, tensor_map_of
from tinyc.dialects.gpu.statements import (
    CommitGroupOp,
    CpAsyncOp,
    MbarrierArriveOp,
    MbarrierExpectTxOp,
    MbarrierInitOp,
    MbarrierWaitOp,
    NamedBarrierOp,
    TmaLoadOp,
    TmaStoreOp,
    WaitGroupOp,
    WarpgroupsOp,
    WgmmaFragmentOp,
    WgmmaOp,
)
from tinyc.dialects.gpu.statements.warpgroups import NAMED_BARRIERS
from tinyc.mlir import ir
from tinyc.mlir.bodies import nested
from tinyc.mlir.locations import value_name
from tinyc.mlir.verifying import Malformed
from tinyc.runtime.tensor_map import Tiling
from tinyc.target.role_registers import role_registers
from tinyc.target.target import Target

_Op = TypeVar("_Op", bound=ir.OpView)
#: What is done in groups, by the statement that starts it.
_GROUPED: dict[type[ir.OpView], str] = {
    CpAsyncOp: "cp_async",
    TmaStoreOp: "bulk",
    WgmmaOp: "wgmma",
    WgmmaFragmentOp: "wgmma",
}


def check_asynchrony(kernel: GpuKernel, target: Target) -> None:
    """Check a kernel of statements.

    Raises:
        Malformed.
    """
    _check_roles(kernel, target)
    _check_dynamic_memory(kernel)
    for op in kernel.ops:
        if isinstance(op, TmaLoadOp):
            _check_box(kernel, op, op.multicast.value)
            _check_cluster(kernel, op, op.multicast.value)
        elif isinstance(op, TmaStoreOp):
            _check_box(kernel, op, 1)
        elif isinstance(op, MbarrierArriveOp):
            _check_cluster(kernel, op, op.ctas.value)
        elif isinstance(op, MbarrierExpectTxOp):
            _check_expected(op)
        elif isinstance(op, MbarrierInitOp):
            _check_pairs(op)
        elif isinstance(op, WgmmaFragmentOp):
            _check_fragment_in_flight(op)
    _check_groups(kernel)


# --- warpgroups -------------------------------------------------------------------------------------------------------


def _check_roles(kernel: GpuKernel, target: Target) -> None:
    """Check that the CTA has the warpgroups of each role, and the registers that all of them set."""
    there, roles = math.prod(kernel.cta_shape) // WARPGROUP_THREADS, _ops_of(kernel, WarpgroupsOp)
    registers = [0] * there
    for op in roles:
        first, count = op.first.value, op.count.value
        if first + count > there:
            threads = "x".join(map(str, kernel.cta_shape))
            last = first + count - 1
            raise Malformed(
                f"has statements for warpgroups {first} to {last}, and a CTA of {there} warpgroups ({threads} "
                f"threads); give it {WARPGROUP_THREADS} threads for each"
            )
        for each in range(first, first + count):
            registers[each] = max(registers[each], op.registers.value)
        _check_named_barriers(op)
    together, most = role_registers(registers, target) if any(registers) else (0, 0)
    if together > most:
        raise Malformed(
            f"has warpgroups with {together} registers together for each {WARPGROUP_THREADS} threads; a CTA of "
            f"{there} warpgroups is launched with {most} on {target.name}, {most // there} for each; "
            f"take {together - most} from a role"
        )


def _check_named_barriers(role: WarpgroupsOp) -> None:
    inside = [op.opview for op in nested(role)]
    for op in (each for each in inside if isinstance(each, NamedBarrierOp)):
        last = op.id.value + role.count.value - 1
        if last >= NAMED_BARRIERS:
            raise Malformed(
                f"has a 'tgpu.named_barrier' with id {op.id.value} in {role.count.value} warpgroups, whose last is "
                f"barrier {last}; there are barriers 1 to {NAMED_BARRIERS - 1}"
            )


# --- memory -----------------------------------------------------------------------------------------------------------


def _check_dynamic_memory(kernel: GpuKernel) -> None:
    """Check that a kernel that says how much dynamic shared memory it is launched with takes no more."""
    needed, given = dynamic_bytes(kernel), kernel.dynamic_shared_bytes
    if DYNAMIC_SHARED_BYTES in kernel.op.attributes and needed > given:
        raise Malformed(
            f"has {DYNAMIC_SHARED_BYTES} = {given}, and its tiles and mbarriers take {needed}; launch it with as many"
        )


def _check_box(kernel: GpuKernel, op: TmaLoadOp | TmaStoreOp, ctas: int) -> None:
    """Check that a box of a tensor map is a slab of the tile, or the part of it that is one CTA's."""
    notes: dict[ir.Value, Mapping[str, ir.Attribute]] = dict(zip(kernel.arguments, kernel.notes, strict=True))
    if op.map not in notes:
        raise Malformed(f"has a '{op.operation.name}' by a tensor map that is no argument of the kernel")
    found = tensor_map_of(notes[op.map].get(TENSOR_MAP, None))
    layout, rank = staged_tile(op.tiles.type).layout, len(op.place)
    sides = layout.line_elements, layout.lines // ctas, *(1 for _ in range(rank - 2))
    if _facts(found.tiling) != (sides[:rank], layout.swizzle):
        given, wanted = (_shown(*each) for each in (_facts(found.tiling), (sides[:rank], layout.swizzle)))
        shared = f" of one of {ctas} CTAs" if ctas > 1 else ""
        raise Malformed(
            f"has a '{op.operation.name}' of {op.tiles.type} by a tensor map with {given}; a slab{shared} is {wanted}"
        )
    buffers: list[ir.Value] = list(kernel.buffers)
    if isinstance(op, TmaStoreOp) and buffers.index(op.buffer) != found.buffer:
        raise Malformed(f"has a 'tgpu.tma_store' by a tensor map of buffer {found.buffer}, which is another one")


def _facts(tiling: Tiling) -> tuple[tuple[int, ...], int]:
    return tiling.box, tiling.swizzle


def _shown(box: tuple[int, ...], swizzle: int) -> str:
    return f"a box {'x'.join(map(str, box))} and a swizzle of {swizzle} bytes"


def _check_cluster(kernel: GpuKernel, op: TmaLoadOp | MbarrierArriveOp, ctas: int) -> None:
    there = math.prod(kernel.cluster)
    if ctas not in (1, there):
        raise Malformed(
            f"has a '{op.operation.name}' for {ctas} CTAs, and clusters of {there}; it is for one or all of them"
        )


# --- who waits for whom -----------------------------------------------------------------------------------------------


def _check_expected(op: MbarrierExpectTxOp) -> None:
    """Check that the bytes that are expected are those of the copies behind it, which count at the same mbarriers."""
    here = list(op.operation.block.operations)
    copies: list[TmaLoadOp] = []
    for each in here[here.index(op) + 1 :]:
        if isinstance(each, TmaLoadOp | MbarrierExpectTxOp) and each.barriers == op.barriers:
            if isinstance(each, MbarrierExpectTxOp):  # what is behind it is of another phase
                break
            copies.append(each)
    brought = sum(staged_tile(each.tiles.type).layout.size_bytes for each in copies)
    expected = ir.IntegerAttr(op.attributes["bytes"]).value
    if copies and brought != expected:
        raise Malformed(
            f"has a 'tgpu.mbarrier_expect_tx' of {expected} bytes, and copies of {brought} count there; expect as many"
        )


def _check_pairs(op: MbarrierInitOp) -> None:
    """Check that who waits at mbarriers waits for someone, and that no one arrives there for nothing."""
    users = [use.owner for use in op.barriers.uses]
    waits = any(isinstance(each, MbarrierWaitOp) for each in users)
    arrives = any(isinstance(each, MbarrierArriveOp | MbarrierExpectTxOp) for each in users)
    if waits != arrives:
        what = "waits, and no one arrives" if waits else "arrives, and no one waits"
        name = value_name(op.barriers)
        called = f"mbarriers '{name}'" if name else "mbarriers"
        raise Malformed(f"has {called} at which someone {what}; a phase has both")


def _check_groups(kernel: GpuKernel) -> None:
    """Check that what is started is put into groups, and that these are waited for."""
    for started, kind in _GROUPED.items():
        if not any(isinstance(op, started) for op in kernel.ops):
            continue
        for closing in (CommitGroupOp, WaitGroupOp):
            if not any(op.kind.value == kind for op in _ops_of(kernel, closing)):
                name, missing = (each.OPERATION_NAME for each in (started, closing))
                raise Malformed(f"has a '{name}' and no '{missing}' of \"{kind}\"; nothing says when it is done")


def _check_fragment_in_flight(op: WgmmaFragmentOp) -> None:
    """Check that a product of a fragment is waited for before the next turn of a loop has others in its registers."""
    here = list(op.operation.block.operations)
    closed = 0
    for each in here[here.index(op) + 1 :]:
        if isinstance(each, CommitGroupOp) and each.kind.value == "wgmma":
            closed += 1
        elif isinstance(each, WaitGroupOp) and each.kind.value == "wgmma" and each.pending.value < closed:
            return
    raise Malformed(
        f"has a '{op.operation.name}' whose group no 'tgpu.wait_group' behind it in its block is for; until then its "
        "fragment is read, and in the next turn of a loop its registers are others'"
    )


def _ops_of(kernel: GpuKernel, kind: type[_Op]) -> list[_Op]:
    return [op for op in kernel.ops if isinstance(op, kind)]
