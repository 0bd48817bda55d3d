"""Places taken in other orders than that of time: each buffer at the lowest place that those before it leave free.

What the order puts first lies well, so large buffers come before small ones, and those that have ended up too high come
first in the next try.
"""

from collections.abc import Callable, Iterator, Sequence

from tinyc.analysis.arena.lifetimes import Request

#: How often neighbours are looked at in all tries on a program together, and how many tries there are at the most.
_LOOKS = 3_000_000
_TRIES = 40


def placed_in_orders(
    requests: Sequence[Request],
    sizes: Sequence[int],
    reaches: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    bound: int,
) -> Iterator[list[int]]:
    """The starts of all buffers, for one order after the other; `reaches` are their sizes and what is above them."""
    looks = sum(map(len, neighbours)) + len(requests) + 1
    tries = min(_TRIES, max(1, _LOOKS // looks))
    best: tuple[int, list[int], list[int]] | None = None
    for order in (_sorted(requests, sizes, key) for key in _KEYS[:tries]):
        starts = first_fit(order, sizes, neighbours)
        yield starts
        peak = max(map(sum, zip(starts, reaches, strict=True)), default=0)
        if best is None or peak < best[0]:
            best = peak, order, starts
    if best is None:
        return
    _, order, starts = best
    for _ in range(tries - len(_KEYS)):
        raised = {each for each in order if starts[each] + reaches[each] > bound}
        moved = [*(each for each in order if each in raised), *(each for each in order if each not in raised)]
        if moved == order:
            return
        order = moved
        starts = first_fit(order, sizes, neighbours)
        yield starts


_KEYS: tuple[Callable[[Request, int], tuple[int, ...]], ...] = (
    lambda request, size: (-size, request.first - request.last, request.first),
    lambda request, size: (-size * (request.last - request.first + 1), -size),
    lambda request, size: (request.first - request.last, -size),
    lambda request, size: (-request.last, -size),
)


def _sorted(
    requests: Sequence[Request], sizes: Sequence[int], key: Callable[[Request, int], tuple[int, ...]]
) -> list[int]:
    return sorted(range(len(requests)), key=lambda each: (*key(requests[each], sizes[each]), each))


def first_fit(order: Sequence[int], sizes: Sequence[int], neighbours: Sequence[Sequence[int]]) -> list[int]:
    """The starts of buffers that take their lowest free places in an order."""
    starts = [-1] * len(sizes)
    for position in order:
        taken = sorted(
            (starts[other], starts[other] + sizes[other]) for other in neighbours[position] if starts[other] >= 0
        )
        end, size = 0, sizes[position]
        for start, stop in taken:
            if start - end >= size:
                break
            end = max(end, stop)
        starts[position] = end if size else 0
    return starts
