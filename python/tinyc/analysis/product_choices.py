"""What is asked of the panels and of the micro-kernel of a product on a CPU: by a plan, and by what the CPU has."""

from dataclasses import dataclass

from tinyc.target import DotForm


@dataclass(frozen=True)
class ProductChoices:
    """What is asked for, None where nothing is.

    A plan says a `tile`, its rows, its columns, and the products that are packed at a time; which operands are packed;
    the `lanes` of a vector; and that of the loop over the products of a panel `unroll` steps are written out. In the
    form `dot` the CPU multiplies words of neighbours, if it can so multiply these operands in vectors of its own.
    """

    tile: tuple[int, int, int] | None = None
    packs_left: bool | None = None
    packs_right: bool | None = None
    lanes: int | None = None
    unroll: int | None = None
    dot: DotForm | None = None
