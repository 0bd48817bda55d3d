"""What a kernel of scheme `mma` takes of an SM: shared memory, registers, and how many CTAs are resident.

In: a tiling, a product, its matrix unit, a target. Out: numbers, and what of them is more than the target has. Register
counts are an estimate (`registers`). Source: specification 000 §5.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import Load
from tinyc.schemes.mma.registers import register_limit, registers_per_thread
from tinyc.schemes.mma.shared_memory import held_elements, slab_bytes, stage_bytes
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.target.role_registers import WARPGROUP_THREADS, registers_at_launch, role_registers
from tinyc.target.target import Target
from tinyc.vocabulary.element_type import ElementType

#: What mbarriers take: a full one and an empty one of 8 bytes a stage and a few more, in a piece of its own.
BARRIER_BYTES = 1024


@dataclass(frozen=True)
class MmaResources:
    """What one CTA takes, and how many are resident on an SM.

    Bytes are of shared memory. `registers_per_thread` are those of a thread that multiplies; where warps are
    specialised the others have less. `occupancy` is the part of the SM's warps that are resident. `limiter` is what
    allows no further CTA: "shared memory", "registers", "warps" or "CTAs".
    """

    staged_bytes: int
    slab_bytes: int
    barrier_bytes: int
    shared_bytes: int
    registers_per_thread: int
    registers_per_cta: int
    threads: int
    ctas_per_sm: int
    occupancy: float
    limiter: str


def mma_resources(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load] = ()) -> MmaResources:
    """The resources of a tiling with its loads; copies that run by themselves take no registers."""
    unit, target = case.unit, case.target
    held = held_elements(loads, unit)
    staged = tiling.stages * stage_bytes(tiling, held)
    slabs = slab_bytes(tiling, case)
    barriers = BARRIER_BYTES if unit.is_wgmma else 0
    # A CTA that computes one tile has its circular buffer free when that is finished.
    shared = (staged + slabs if tiling.is_persistent else max(staged, slabs)) + barriers
    registers = registers_per_thread(tiling, case, loads)
    registers_per_cta = _registers_per_cta(tiling, registers, target)
    room = {
        "shared memory": target.shared_bytes_per_sm // (shared + target.shared_bytes_per_cta_reserved),
        "registers": target.registers_per_sm // registers_per_cta,
        "warps": target.threads_per_sm // tiling.threads,
        "CTAs": target.ctas_per_sm,
    }
    limiter = min(room, key=lambda each: room[each])
    ctas = room[limiter]
    occupancy = min(1.0, ctas * tiling.threads / target.threads_per_sm)
    return MmaResources(
        staged, slabs, barriers, shared, registers, registers_per_cta, tiling.threads, ctas, occupancy, limiter
    )


def launch_registers(tiling: MmaTiling, target: Target) -> int:
    """The registers of each thread at the launch where warps are specialised."""
    return registers_at_launch(_roles(tiling), target)


def _roles(tiling: MmaTiling) -> list[int]:
    """What each warpgroup sets."""
    assert tiling.registers is not None
    producer, consumer = tiling.registers
    return [producer, *[consumer] * tiling.consumers]


def resource_faults(
    tiling: MmaTiling, resources: MmaResources, case: MmaCase, loads: Sequence[Load] = (), spared: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the fields that ask for more than the target has, each with a message that goes on after its name.

    `spared` registers of a thread do not count: those that ptxas may spill where somebody asks for the tile.
    """
    (bm, bn, bk), target = tiling.tile, case.target
    if tiling.threads > target.threads_per_cta:
        yield (
            "warp_tile",
            f"makes {tiling.consumers} units of {tiling.unit_threads} threads, {tiling.threads} threads per CTA; "
            f"{target.name} has {target.threads_per_cta}; choose a larger one or a smaller tile",
        )
        return
    if tiling.registers:
        (producer, consumer), (together, most) = tiling.registers, role_registers(_roles(tiling), target)
        if together > most:
            fitting = (most - producer) // tiling.consumers // 8 * 8
            yield (
                "registers",
                f"are {producer} and {consumer}: with {tiling.consumers} consumers {together} for each "
                f"{WARPGROUP_THREADS} threads; a CTA of {tiling.threads} threads is launched with {most} on "
                f"{target.name}; choose [{producer}, {fitting}]",
            )
            return
    limit = register_limit(tiling, target)
    if resources.registers_per_thread - spared > limit:
        whose = "consumers set" if tiling.registers else f"{target.name} has"
        yield (
            "warp_tile",
            f"has accumulator tile {tiling.unit_tile[0]}x{tiling.unit_tile[1]}, about {resources.registers_per_thread} "
            f"registers per thread ({tiling.accumulators_per_thread} accumulators); {whose} {limit}; choose a smaller "
            "one",
        )
    elif resources.registers_per_cta > target.registers_per_cta:
        yield (
            "tile",
            f"has accumulator tile {bm}x{bn}, about {resources.registers_per_thread} registers for each of "
            f"{tiling.threads} threads; {target.name} has {target.registers_per_cta} per CTA; choose a smaller tile",
        )
    if resources.shared_bytes > target.shared_bytes_per_cta_optin:
        held = held_elements(loads, case.unit)
        each = resources.staged_bytes // tiling.stages
        beside = (resources.slab_bytes if tiling.is_persistent else 0) + resources.barrier_bytes
        fitting = (target.shared_bytes_per_cta_optin - beside) // each
        fewer = f"{fitting} stages or " if 1 < fitting < tiling.stages else ""
        rest = resources.shared_bytes - resources.staged_bytes
        first, second = held
        tiles = f"{bm}x{bk} + {bk}x{bn} {second}" if first is second else f"{bm}x{bk} {first} + {bk}x{bn} {second}"
        yield (
            "stages",
            f"and 'tile' take {tiling.stages} x ({tiles}) = {resources.staged_bytes} "
            f"bytes and {rest} for the epilogue and barriers, {resources.shared_bytes} bytes of shared memory per CTA; "
            f"{target.name} has {target.shared_bytes_per_cta_optin}; choose {fewer}a smaller tile",
        )


def most_stages(
    tiling: MmaTiling, case: MmaCase, held: tuple[ElementType, ElementType], most: int = 8, ctas: int = 1
) -> int:
    """As many stages, of tiles of `held`, as shared memory has room for, at most `most`; 0 where one has none.

    An SM has so many `ctas` beside each other.
    """
    rest = slab_bytes(tiling, case) if tiling.is_persistent else 0
    rest += BARRIER_BYTES if case.unit.is_wgmma else 0
    share = case.target.shared_bytes_per_sm // ctas - case.target.shared_bytes_per_cta_reserved
    return min(most, (min(share, case.target.shared_bytes_per_cta_optin) - rest) // stage_bytes(tiling, held))


def _registers_per_cta(tiling: MmaTiling, per_thread: int, target: Target) -> int:
    """What is allocated: whole units a warp, and for specialised warps what a launch needs."""
    each = launch_registers(tiling, target) if tiling.registers else min(per_thread, target.registers_per_thread)
    per_warp = _aligned(each * target.threads_per_warp, target.registers_per_warp_unit)
    return per_warp * (tiling.threads // target.threads_per_warp)


def _aligned(number: int, step: int) -> int:
    return -(-number // step) * step
