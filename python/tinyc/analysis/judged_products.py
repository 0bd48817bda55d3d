"""What a product is computed in on a CPU: the fastest tiles for which there is memory, of those that a plan leaves.

In: the fused loops of a kernel that is a product, and the choices of a plan. Out: `JudgedProduct`s, the fastest first,
with what stands against each one. In a plan the operand that has the rows is A, and m is along them; the one with the
columns is B, and n is along these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tinyc.analysis.cpu_form import ProductLoops, product_loops
from tinyc.analysis.cpu_product import CpuProduct, cpu_product
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.loop_choices import LoopChoices
from tinyc.analysis.product_choices import ProductChoices
from tinyc.analysis.product_cost import ProductShape, ProductTime
from tinyc.analysis.product_search import GivenTile, ranked_tiles
from tinyc.analysis.tile_sides import TileSide
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU, DotForm

#: What a tile may take of the stack, and of memory that a thread has to itself.
_STACK_BYTES, _WORKSPACE_BYTES = 256 * 1024, 64 * 1024 * 1024
#: The layout of the result, of `layout_hints`.
STRIDE_HINT = "C_stride"


@dataclass(frozen=True)
class JudgedProduct:
    """A product in tiles, its shape, and its predicted time.

    Each of `faults`, by which it cannot be built, is an error's name, a field, and the message that goes on after it.
    """

    product: CpuProduct
    shape: ProductShape
    time: ProductTime
    faults: tuple[tuple[str, str, str], ...]


def judged_products(
    kernel: KernelLoops, choices: LoopChoices, *, lanes: int | None = None, dot: DotForm | None = None
) -> Iterator[JudgedProduct]:
    """Yield all tiles that the choices leave, the fastest first.

    Vectors have so many `lanes`, if that is said; `dot` is what the CPU multiplies neighbours by.
    """
    pack = choices.plan.pack or {}
    given = GivenTile(choices.product_tile, pack.get("A"), pack.get("B"))
    products = [cpu_product(kernel, sides) for sides in _sides(kernel, choices, given)]
    products = [replace(each, asked=replace(each.asked, lanes=lanes, dot=dot)) for each in products]
    shapes = tuple(_shape_of(product, choices) for product in products)
    for each in ranked_tiles(shapes, given):
        tile = each.tile
        asked = ProductChoices(given.tile or tile.sizes, tile.packs_left, tile.packs_right, lanes, dot=dot)
        product = replace(products[each.side], rows=tile.rows, columns=tile.columns, asked=asked)
        shape = shapes[each.side]
        yield JudgedProduct(product, shape, each.time, tuple(_faults(product, shape, given)))


def stride_of(sides: ProductLoops) -> str:
    """Whether columns are along the last loop, where results are beside each other ("row"), or rows are ("col")."""
    return "row" if max(sides.columns) > max(sides.rows, default=-1) else "col"


def memory_fault(workspace_bytes: int, stack_bytes: int) -> str:
    """What a tile takes that is more than there is of the stack or of workspaces, and what to do; empty if nothing."""
    rooms = (("of the stack", stack_bytes, _STACK_BYTES), ("of panels and sums", workspace_bytes, _WORKSPACE_BYTES))
    for what, taken, room in rooms:
        if taken > room:
            return f"takes {taken} bytes {what} for each thread; there are {room}; choose a smaller tile"
    return ""


def size_fault(axis: str, side: TileSide, size: int) -> str:
    """Why tiles have not as many rows or columns as a plan says, or all there are; empty where they have."""
    lines = side.lines
    if side.most == size or (isinstance(lines, int) and side.most == max(1, lines) <= size):
        return ""
    loops = " × ".join(map(str, side.extents)) or "no loop"
    return f"has {size} along {axis}, whose loops are {loops}; a tile has whole loops inside: choose {side.most}"


# --- what there is to choose from -------------------------------------------------------------------------------------


def _sides(kernel: KernelLoops, choices: LoopChoices, given: GivenTile) -> list[ProductLoops]:
    """The loops that may be rows and columns: as a plan says, or each of both operands' that can be columns.

    What a plan says of m, n, A and B is of the usual ones, unless it says of which.
    """
    usual = product_loops(kernel.loops, GENERIC_CPU)
    assert not isinstance(usual, str), usual  # it has the form of a product
    hints = choices.plan.layout_hints or {}
    for name in hints:
        if name != STRIDE_HINT:
            message = f"has {name}, which is for shared memory; a CPU has '{STRIDE_HINT}' alone: leave it out"
            choices.refuse("UnsupportedPlan", "layout_hints", message)
    asked = hints.get(STRIDE_HINT)
    if asked == stride_of(usual) or (asked is None and given != GivenTile()):
        return [usual]
    turned = product_loops(kernel.loops, GENERIC_CPU, not usual.has_columns_left)
    if not isinstance(turned, str):
        return [usual, turned] if asked is None else [turned]
    if asked is not None:
        message = f"has '{STRIDE_HINT}' {asked}, and there are no tiles of it, since {turned}; write {stride_of(usual)}"
        choices.refuse("PlanMismatch", "layout_hints", message)
    return [usual]


def _shape_of(product: CpuProduct, choices: LoopChoices) -> ProductShape:
    reads = product.phase.block.accesses
    return ProductShape(
        loops=product.kernel.loops.extents,
        sides=product.sides,
        depth=product.depth,
        taps=product.taps,
        windows=product.windows,
        dot=None if product.dot is None else product.dot.form,
        element_bytes=product.accumulator.size_bytes,
        has_rows_inside=product.has_rows_inside,
        has_columns_inside=product.has_columns_inside,
        has_guarded_rows=any(each.guards and not each.positions.isdisjoint(product.row_axes) for each in reads),
        has_left_in_place=product.has_left_in_place,
        has_right_in_place=product.has_right_in_place,
        has_weights=product.reads_right_in_panels or _packs_kept_weights(product, choices),
    )


def _packs_kept_weights(product: CpuProduct, choices: LoopChoices) -> bool:
    """Whether the right operand is a matrix that holds the same in all runs, and is packed once."""
    packed = product.right_matrix if choices.kept else None
    if packed is None:
        return False
    buffer, _ = packed
    return isinstance(buffer, ir.BlockArgument) and buffer.arg_number in choices.kept and len(list(buffer.uses)) == 1


def _faults(product: CpuProduct, shape: ProductShape, given: GivenTile) -> Iterator[tuple[str, str, str]]:
    """Yield what stands against a product in tiles."""
    for side, is_packed, can_be, why in (
        ("A", product.asked.packs_left, shape.has_left_in_place, "its rows do not lie along the sum in memory"),
        ("B", product.asked.packs_right, shape.has_right_in_place, "its columns are no vectors in memory"),
    ):
        if not (is_packed or can_be):
            message = f"has {side} false, and it is not read in place, since {why}; write true"
            yield "PlanMismatch", "pack", message
    _, _, depth = product.asked.tile
    if given.tile is not None:
        rows, columns, _ = given.tile
        wrong = (size_fault("m", product.rows, rows), size_fault("n", product.columns, columns))
        yield from (("PlanMismatch", "tile", message) for message in wrong if message)
        if depth % product.packed_together:
            unit = product.packed_together
            message = f"has {depth} along k, whose products are packed in windows of {unit}; choose a multiple"
            yield "PlanMismatch", "tile", message
    else:
        panel = depth // shape.group * product.columns.most * shape.element_bytes
        if product.packs_right and panel > GENERIC_CPU.l2_bytes:
            message = f"has a panel of {panel} bytes, and L2 has {GENERIC_CPU.l2_bytes}; choose fewer columns"
            yield "ResourceExceeded", "tile", message
    taken = sum(product.workspace_sizes) * shape.element_bytes
    if message := memory_fault(taken, product.stack_bytes):
        yield "ResourceExceeded", "tile", message
