"""What an arithmetic instruction of PTX is to the simulator: the types of its operands, and a function on their bits.

In: the opcode and its modifiers, as written. Out: an `Operation`. Every value is a bit pattern: unsigned arrays of the
type's width, `bool` for `pred` and for the carry flag `cc`. Nothing here knows of registers, lanes or masks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

BitFunction: TypeAlias = Callable[..., tuple[np.ndarray, ...]]


class UnknownInstruction(ValueError):
    """An opcode of the ISA with modifiers that the ISA does not have, or that the simulator does not model."""


@dataclass(frozen=True)
class Operation:
    """One instruction without its registers.

    `results` and `operands` are PTX type names without the dot, in the order in which the instruction names them;
    `cc`, the carry flag, is last and is named by no operand. An instruction may name fewer results than there are:
    `setp` has `p` and `q`, `lop3` with a Boolean operator has `d` and `p`.

    Shapes: `function` takes arrays that broadcast against each other, and gives a tuple with an array for each result
    that broadcasts to their common shape: an instruction on immediates gives an array without an axis. It may give an
    operand back as it is. It raises nothing and warns of nothing, whatever the bits are.
    """

    results: tuple[str, ...]
    operands: tuple[str, ...]
    function: BitFunction


# From an instruction's modifiers to its operation; None: another builder of the opcode knows the type.
# Raises UnknownInstruction.
Builder: TypeAlias = Callable[[tuple[str, ...]], Operation | None]
Registry: TypeAlias = Mapping[str, Builder]


def merged(registries: Sequence[Registry]) -> dict[str, tuple[Builder, ...]]:
    """Every opcode with all of its builders, those of earlier registries first."""
    builders: dict[str, tuple[Builder, ...]] = {}
    for registry in registries:
        for opcode, builder in registry.items():
            builders[opcode] = (*builders.get(opcode, ()), builder)
    return builders
