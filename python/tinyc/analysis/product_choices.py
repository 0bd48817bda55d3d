"""What is said of the tiles and of the micro-kernel of a product on a CPU: by a plan, and by what the CPU has."""

from dataclasses import dataclass

from tinyc.target import DotForm


@dataclass(frozen=True)
class ProductChoices:
    """What a plan says of the tiles, the panels and the micro-kernel of a product, and what the CPU has for it.

    `tile` is its rows, its columns, and the products that are packed at a time; `packs_left` and `packs_right` say
    which operands are packed. The rest is None where nothing is said: `lanes` are those of a vector; of the loop over
    the products of a panel `unroll` steps are written out. In the form `dot` the CPU multiplies words of neighbours, if
    it can so multiply these operands in vectors of its own.
    """

    tile: tuple[int, int, int]
    packs_left: bool
    packs_right: bool
    lanes: int | None = None
    unroll: int | None = None
    dot: DotForm | None = None
