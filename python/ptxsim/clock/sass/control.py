"""The control code of a SASS instruction: what ptxas tells the issue port about it.

In: the 128 bits of an instruction of Volta or later. Out: `ControlCode`, from its bits 105 to 125. The layout is that
of Jia et al., "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking" (2018); unchanged up to sm_90.
"""

from dataclasses import dataclass

#: The field of a barrier that says "none".
_NO_SCOREBOARD = 7
#: The scoreboards of a warp are numbered from 0.
SCOREBOARDS = 6


@dataclass(frozen=True, slots=True)
class ControlCode:
    """What the issue port is told with an instruction.

    `stall`: cycles until the warp may issue its next one, 0 to 15. `switches`: the scheduler shall rather turn to
    another warp (the yield bit, which is set by a 0). `write_scoreboard` is counted up at issue and down when the
    result is there, `read_scoreboard` down when the operands have been read; None for neither. `waits` are the
    scoreboards that must be 0 before the instruction issues. `reuse`: a bit for each operand kept in the reuse cache.
    """

    stall: int
    switches: bool
    write_scoreboard: int | None
    read_scoreboard: int | None
    waits: tuple[int, ...]
    reuse: int

    @property
    def issue_cycles(self) -> int:
        """The cycles of the issue port that the instruction takes of its warp: its stall, at least 1."""
        return max(1, self.stall)


def decode_control(encoding: int) -> ControlCode:
    """The control code of an instruction from its 128 bits: stall 4, yield 1, write 3, read 3, wait 6, reuse 4 bits."""
    bits = encoding >> 105
    write, read, waits = bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63
    return ControlCode(
        stall=bits & 15,
        switches=not bits >> 4 & 1,
        write_scoreboard=None if write == _NO_SCOREBOARD else write,
        read_scoreboard=None if read == _NO_SCOREBOARD else read,
        waits=tuple(each for each in range(SCOREBOARDS) if waits >> each & 1),
        reuse=bits >> 17 & 15,
    )
