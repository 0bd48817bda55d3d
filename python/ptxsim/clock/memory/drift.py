"""Rounds after the first one: clusters start as others end, and are not at the same step any more.

In: a cluster's requests and the offsets of the first two rounds. Out: the traffic of a round in the middle of the
launch. What a cluster has brought in is there for another one only if it comes by before L2 has filled up: tile orders
that share little, or have much under way, lose hits here that they have in the first round.

The time of a cluster differs from the mean by `DRIFT`, so that the starts of the w-th round are `DRIFT` · √w apart (a
random walk), in shares of a cluster's time. Of the lines only a sample is looked at, in an L2 of as small a share.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.clock.memory.l2 import L2State, StepTraffic
from ptxsim.clock.memory.requests import L2_CHUNK_BYTES
from ptxsim.clock.memory.rounds import Round, different_chunks

#: How much the times of like clusters differ: the standard deviation over the mean. Assumed: no publication was found.
#: Chosen after looking: from 0.005 to 0.01 xudoong's products of 16384 come out alike, in order of rows bound by HBM,
#: in blocks not; 0.002 shows no drift, at 0.02 blocks lose their hits, too, which their published speeds refute.
DRIFT = 0.01
#: One in so many lines is looked at; different delays of the clusters of a round.
_SAMPLE, _DELAYS = 8, 16
#: What makes the order of delays look like chance: numbers times the golden ratio are spread evenly.
_GOLDEN = 0.6180339887498949

#: The round of these clusters (places in the offsets) in these slots.
RoundOf = Callable[[Sequence[int], Sequence[int]], Round]


def delays_of(resident: int, steps: int, rounds: float, drift: float = DRIFT) -> np.ndarray:
    """The delay of each resident cluster in a launch of so many rounds, in steps of its `steps`; the least is 0.

    Delays are spread evenly, over the time of a cluster at most, in an order as good as chance.
    """
    deviation = drift * float(np.sqrt(np.arange(1, max(2, int(rounds)))).mean())
    width = min(1.0, deviation * np.sqrt(12)) * steps
    order = np.argsort(np.arange(1, resident + 1) * _GOLDEN % 1.0)
    level = np.empty(resident)
    level[order] = np.arange(resident) * _DELAYS // resident
    return np.round(level / _DELAYS * width).astype(np.int64)


def drifted_traffic(
    state: L2State, round_of: RoundOf, delays: np.ndarray, steps: int, held: np.ndarray | None = None
) -> list[StepTraffic]:
    """The traffic of all resident clusters in `steps` steps of the middle of a launch; `imbalance` is the sample's.

    `held` are chunks that are in L2 from the beginning.
    """
    sampled, is_in = state.sampled(_SAMPLE)
    if held is not None:
        sampled.hold(held)
    resident = len(delays)
    groups = [(delay, np.flatnonzero(delays == delay)) for delay in np.unique(delays).tolist()]
    rounds = [
        (delay, [round_of((slots + each_round * resident).tolist(), slots.tolist()) for each_round in (0, 1)])
        for delay, slots in groups
    ]
    found = []
    for time in range(2 * steps):
        active = [both[(time - delay) // steps].step((time - delay) % steps) for delay, both in rounds if time >= delay]
        chunks = np.concatenate([each.chunks for each in active])
        requests = np.concatenate([each.requests for each in active], axis=1)
        sizes = np.concatenate([each.sector_bytes for each in active])
        gotten, chosen = float((requests * sizes).sum()), is_in[chunks]
        traffic = StepTraffic(0, 0, 0, 0, 0, 0, 0, 1)
        if chosen.any():
            traffic = sampled.read(*different_chunks(chunks[chosen], requests[:, chosen], sizes[chosen]))
        own_read, own_written = (sum(getattr(each, name) for each in active) for name in ("own_read", "own_written"))
        sampled.occupy((own_read + own_written) / L2_CHUNK_BYTES / _SAMPLE)
        if time >= steps:  # from here on none waits for its first start
            found.append(traffic.with_own(own_read, gotten / max(1.0, traffic.requested)))
    return found
