"""From the clusters of a grid to the SMs that run them, and from those that are replayed to the whole grid.

In: the launch's clusters, the occupancy, a device. Out: `Schedule`: how many clusters the busiest SMs get, and which of
them are replayed. Clusters go to SMs that have a place as soon as others end, so that none get more than one more than
others; of many clusters the first ones are replayed, as many as it takes until each place has had some.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from ptxsim.clock.devices import Device
from ptxsim.errors import InputError

#: Clusters that are recorded unless it is said how many: the first, one in the middle, and the last.
RECORDED_CLUSTERS = 3
#: How many clusters of each place are replayed: where an SM has one at a time, and where they share it. Those that do
#: begin together and only then drift apart; the rounds in between tell, with others behind them.
_ROUNDS_ALONE, _ROUNDS_SHARED = 2, 4


@dataclass(frozen=True)
class Schedule:
    """The clusters of the busiest SMs: `clusters` one after the other, `resident` of them at once.

    `groups` counts the SMs' groups, each as many SMs as a cluster has CTAs; `replayed` of the clusters are replayed.
    """

    groups: int
    clusters: int
    resident: int
    replayed: int

    @property
    def at_once(self) -> int:
        """How many clusters all SMs hold at once."""
        return self.groups * self.resident

    @property
    def rounds(self) -> int:
        """How often the places of an SM are filled."""
        return ceil(self.clusters / self.resident)

    def recorded_for(self, place: int, recorded: Sequence[int], total: int) -> int:
        """Which of the `recorded` clusters (numbers of `total`) stands for the one that is replayed at `place`."""
        of_the_grid = place / max(1, self.replayed - 1) * (total - 1) if self.replayed > 1 else 0.0
        return min(recorded, key=lambda number: (abs(number - of_the_grid), number))

    def carried_over(self, ends: Sequence[float]) -> float:
        """The cycles of all clusters, from the ends of those that are replayed: a round takes what others have taken.

        It is not the last one that tells, where places are shared: in that, fewer clusters may share the SM, and none
        are begun beside those that end.
        """
        if len(ends) >= self.clusters:
            return ends[-1]
        rounds = 1 if self.resident == 1 else _ROUNDS_SHARED - 2
        round_cycles = (ends[(1 + rounds) * self.resident - 1] - ends[self.resident - 1]) / rounds
        return ends[-1] + (self.clusters - len(ends)) / self.resident * round_cycles


def schedule_of(device: Device, clusters: int, cluster_ctas: int, ctas_per_sm: int) -> Schedule:
    """The schedule of a launch of so many clusters; an SM holds `ctas_per_sm` CTAs.

    Raises:
        InputError: a cluster has more CTAs than the device has SMs.
    """
    groups = int(device.sms) // cluster_ctas
    if not groups:
        raise InputError(
            f"a cluster of {cluster_ctas} CTAs does not fit on the {int(device.sms)} SMs of {device.title}"
        )
    busiest = ceil(clusters / groups)
    resident = min(ctas_per_sm, busiest)
    rounds = _ROUNDS_ALONE if resident == 1 else _ROUNDS_SHARED
    return Schedule(groups, busiest, resident, min(busiest, rounds * resident + busiest % resident))
