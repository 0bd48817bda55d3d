"""Which share of what the machine reaches at most a region of a run has reached: of its arithmetic or of its memory.

In: rows of a profile, the launches that they are of, and the machine's peak, which is measured when it is asked for.
Out: a text for each row. Of both limits the one counts that the region is nearer to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.driver.profile import LOG_COLUMNS, LaunchTimes, launches_of_regions
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.vocabulary.element_type import ElementType

#: A region that writes so much less than it reads is compared with reading alone.
_READ_OVER_WRITTEN = 8


@dataclass(frozen=True)
class MachinePeak:
    """Operations a second of all threads, by what is computed in; bytes a second of copying, and of reading alone.

    What fits into `cache_bytes` need not come from memory.
    """

    operations: Callable[[ElementType], float]
    bandwidths: Callable[[], tuple[float, float]]
    cache_bytes: int

    def share(self, flops: int, moved_bytes: int, seconds: float, kind: ElementType, reads_alone: bool) -> str:
        """The share of the nearer limit, in words: "63% arithmetic", "91% memory".

        Of what came faster than memory gives it, out of caches, it is the share of arithmetic.
        """
        computed = flops / seconds / self.operations(kind)
        copied, read = self.bandwidths()
        moved = moved_bytes / seconds / (read if reads_alone else copied)
        if moved > 1 and moved_bytes <= self.cache_bytes:
            return f"{computed:.0%} arithmetic, in caches"
        return f"{computed:.0%} arithmetic" if computed >= moved else f"{moved:.0%} memory"


def peak_shares(times: LaunchTimes, rows: Iterable[Sequence[object]], peak: MachinePeak) -> Iterator[str]:
    """The share of each row of a profile; nothing of a row without a prediction."""
    bound = times.bound
    for row, launched in zip(rows, launches_of_regions(times).values(), strict=True):
        told = dict(zip(LOG_COLUMNS, row, strict=True))
        launches = [launch for launch, _ in launched]
        match told["FLOPs"], told["bytes"], told["actual_us"]:
            case int(flops), int(moved), float(taken) if taken > 0 and bound is not None:
                read, written = _boundary_bytes(launches, bound)
                reads_alone = read >= _READ_OVER_WRITTEN * written
                yield peak.share(flops, moved, taken * 1e-6, _computed_in(launches, bound), reads_alone)
            case _:
                yield ""


def _computed_in(launches: Sequence[BoundLaunch], bound: BoundProgram) -> ElementType:
    """What the kernels of a region compute in: the widest float that they hold, or else integers, narrow ones apart.

    Where they read bf16 and no f64 it is these, which some CPUs multiply faster than f32.
    """
    elements: Mapping[str, ElementType] = {each.name: each.element for each in bound.program.buffers}
    held = {elements[name] for launch in launches for name in (*launch.kernel.reads, *launch.kernel.writes)}
    if ElementType.F64 in held:
        return ElementType.F64
    if ElementType.BF16 in {elements[name] for launch in launches for name in launch.kernel.reads}:
        return ElementType.BF16
    if any(each.is_float for each in held):
        return ElementType.F32  # which f16 are computed in, too
    return ElementType.I8 if any(each.bits == ElementType.I8.bits for each in held) else ElementType.I32


def _boundary_bytes(launches: Iterable[BoundLaunch], bound: BoundProgram) -> tuple[int, int]:
    """The bytes of the buffers that a region reads, and of those that it writes, but for its workspaces."""
    read, written, own = set[str](), set[str](), set[str]()
    for launch in launches:
        read |= {*launch.kernel.reads}
        written |= {*launch.kernel.writes}
        own |= bound.program.workspaces_of(launch.kernel)
    return sum(bound.sizes[name] for name in read - own), sum(bound.sizes[name] for name in written - own)
