"""Products and attention in tiles as a plan asks for them, and the decisions of both as a plan has them.

In: the fused loops of a kernel of one of these forms, and a plan's choices. Out: a `CpuProduct` or a `CpuAttention`;
what it cannot have is refused. In a plan the operand that has the rows is A, and m is along them; the one with the
columns is B, and n is along these. Of attention, m is along queries, n along keys, and k along the elements of both.
"""

from collections.abc import Sequence
from dataclasses import replace

from tinyc.analysis.cpu_attention import CpuAttention, cpu_attention
from tinyc.analysis.cpu_form import AttentionLoops, ProductLoops, product_loops
from tinyc.analysis.cpu_product import CpuProduct, cpu_product
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.loop_choices import Decisions, LoopChoices, leading_axes
from tinyc.analysis.product_choices import ProductChoices
from tinyc.analysis.tile_sides import TileSide, sized_side
from tinyc.expr import extents
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU, DotForm

#: What a tile may take of the stack, and of memory that a thread has to itself.
_STACK_BYTES, _WORKSPACE_BYTES = 256 * 1024, 64 * 1024 * 1024
#: Keys are taken in micro-kernels of 6 or of 14, by the CPU.
_KEYS = 42
#: The lanes that a vector of a micro-kernel may have.
_LANES = (4, 8, 16)
_ROWS, _COLUMNS, _PRODUCTS = "m.o", "n.o", "k.o"
#: The layout of the result, of `layout_hints`.
_STRIDE = "C_stride"
#: The axis whose steps the micro-kernel takes.
_STEP = "k.i"


def planned_product(kernel: KernelLoops, choices: LoopChoices, dot: DotForm | None = None) -> CpuProduct:
    """The product that a kernel is, with the choices of a plan; `dot` is what the CPU multiplies neighbours by."""
    found = _sides(kernel, choices)
    tile, usual = choices.product_tile, cpu_product(kernel, found, ProductChoices(dot=dot))
    asked = ProductChoices(
        packs_left=choices.packs("A", "" if usual.has_left_in_place else "its rows do not lie along the sum in memory"),
        packs_right=choices.packs("B", "" if usual.has_right_in_place else "its columns are no vectors in memory"),
        lanes=_lanes(choices),
        unroll=_unroll(choices),
        dot=dot,
    )
    product = usual if asked == usual.asked else cpu_product(kernel, found, asked)
    if tile is not None:
        product = _tiled(product, found, tile, choices)
    order = _order(product, found, choices)
    product = replace(product, order=order)
    return replace(product, parallel=choices.parallel(product.ordered_tiles, len(order)))


def planned_attention(kernel: KernelLoops, found: AttentionLoops, choices: LoopChoices) -> CpuAttention:
    """The attention that a kernel is, with the choices of a plan."""
    attention, tile = cpu_attention(kernel, found), choices.plan.tile
    if tile is not None:
        attention = _attention_in(attention, tile, choices)
    return replace(attention, parallel=choices.parallel(attention.tiles, attention.parallel))


def attention_decisions(attention: CpuAttention) -> Decisions:
    """What a plan has for attention."""
    tile = (attention.queries.most, attention.key_tile, attention.key_depth)
    return {"tile": tile, "loop": {"parallelize": leading_axes(attention.parallel)}}


def product_decisions(product: CpuProduct) -> Decisions:
    """What a plan has for a product."""
    tile = product.asked.tile or (product.rows.most, product.columns.most, product.panel_depth)
    pack = {"A": not product.reads_left_in_place, "B": not product.reads_right_in_place, "block": tile}
    order = _sides_in_order(product.order, product.sides.rows, product.sides.columns)
    return {
        "tile": tile,
        "order": order,
        "layout_hints": {_STRIDE: _stride_of(product.sides)},
        "pack": pack,
        "loop": {"parallelize": leading_axes(product.parallel)},
    }


# --- rows and columns -------------------------------------------------------------------------------------------------


def _sides(kernel: KernelLoops, choices: LoopChoices) -> ProductLoops:
    """Which loops are rows and which are columns: as a plan says, or as it suits the operands."""
    usual = product_loops(kernel.loops, GENERIC_CPU)
    assert not isinstance(usual, str), usual  # it has the form of a product
    hints = choices.plan.layout_hints or {}
    for name in hints:
        if name != _STRIDE:
            message = f"has {name}, which is for shared memory; a CPU has '{_STRIDE}' alone: leave it out"
            choices.refuse("UnsupportedPlan", "layout_hints", message)
    turned = product_loops(kernel.loops, GENERIC_CPU, not usual.has_columns_left)
    asked = hints.get(_STRIDE)
    if asked is None:
        is_better = not isinstance(turned, str) and _reads_kept_weights(kernel, usual, turned, choices)
        return turned if is_better and not isinstance(turned, str) else usual
    if asked == _stride_of(usual):
        return usual
    if not isinstance(turned, str):
        return turned
    message = f"has '{_STRIDE}' {asked}, and there are no tiles of it, since {turned}; write {_stride_of(usual)}"
    choices.refuse("PlanMismatch", "layout_hints", message)
    return usual


def _stride_of(sides: ProductLoops) -> str:
    """Whether columns are along the last loop, where results are beside each other, or rows are."""
    return "row" if max(sides.columns) > max(sides.rows, default=-1) else "col"


def _reads_kept_weights(kernel: KernelLoops, usual: ProductLoops, turned: ProductLoops, choices: LoopChoices) -> bool:
    """Whether a turned product reads weights in panels, which are packed once, and has rows for one tile of columns.

    So are the places of a small image: as columns they fill no whole number of vectors, and what is read of them is
    packed again for each tile of rows.
    """
    places = extents.product([kernel.loops.extents[place] for place in usual.columns])
    fewest, most = GENERIC_CPU.rows_worth_packing, GENERIC_CPU.tile_columns
    if not choices.kept or not isinstance(places, int) or not fewest <= places <= most:
        return False
    packed = cpu_product(kernel, turned).right_matrix
    if packed is None:
        return False
    buffer, _ = packed
    return isinstance(buffer, ir.BlockArgument) and buffer.arg_number in choices.kept and len(list(buffer.uses)) == 1


# --- tiles ------------------------------------------------------------------------------------------------------------


def _tiled(product: CpuProduct, found: ProductLoops, tile: tuple[int, int, int], choices: LoopChoices) -> CpuProduct:
    """A product in tiles that a plan says, if they can be."""
    rows, columns, depth = tile
    sides = {"m": (sized_side(product.kernel, found.rows, rows), rows)}
    sides["n"] = sized_side(product.kernel, found.columns, columns), columns
    are_there = [_has_size(axis, side, size, choices) for axis, (side, size) in sides.items()]
    tiled = replace(product, rows=sides["m"][0], columns=sides["n"][0], asked=replace(product.asked, tile=tile))
    unit = tiled.packed_together
    if depth % unit:
        message = f"has {depth} along k, whose products are packed in windows of {unit}; choose a multiple"
        choices.refuse("PlanMismatch", "tile", message)
        return product
    if not all(are_there):
        return product
    return tiled if _has_room(tiled, tiled.stack_bytes, choices) else product


def _attention_in(attention: CpuAttention, tile: tuple[int, int, int], choices: LoopChoices) -> CpuAttention:
    """Attention in tiles of queries and keys that a plan says, if they can be."""
    queries, keys, depth = tile
    if depth != attention.key_depth:
        message = f"has {depth} along k, and a query has {attention.key_depth} elements; choose that"
        choices.refuse("PlanMismatch", "tile", message)
    if keys % _KEYS:
        message = f"has {keys} along n, and keys are taken {_KEYS} at a time; choose a multiple of {_KEYS}"
        choices.refuse("PlanMismatch", "tile", message)
        return attention
    side = sized_side(attention.kernel, attention.phases.queries, queries)
    tiled = replace(attention, queries=side, key_tile=keys)
    return tiled if _has_size("m", side, queries, choices) and _has_room(tiled, 0, choices) else attention


def _has_room(tiled: CpuProduct | CpuAttention, stack_bytes: int, choices: LoopChoices) -> bool:
    """Whether there is memory for a tile that a plan says; refuse it if not."""
    packed = sum(tiled.workspace_sizes) * tiled.accumulator.size_bytes
    rooms = {"of the stack": (stack_bytes, _STACK_BYTES), "of panels and sums": (packed, _WORKSPACE_BYTES)}
    for what, (taken, room) in rooms.items():
        if taken > room:
            message = f"takes {taken} bytes {what} for each thread; there are {room}; choose a smaller tile"
            choices.refuse("ResourceExceeded", "tile", message)
            return False
    return True


def _has_size(axis: str, side: TileSide, size: int, choices: LoopChoices) -> bool:
    """Whether tiles have as many rows or columns as a plan says, or all there are; refuse it if not."""
    lines = side.lines
    if side.most == size or (isinstance(lines, int) and side.most == max(1, lines) <= size):
        return True
    loops = " × ".join(map(str, side.extents)) or "no loop"
    message = f"has {size} along {axis}, whose loops are {loops}; a tile has whole loops inside: choose {side.most}"
    choices.refuse("PlanMismatch", "tile", message)
    return False


# --- the order of tiles -----------------------------------------------------------------------------------------------


def _order(product: CpuProduct, found: ProductLoops, choices: LoopChoices) -> tuple[int, ...]:
    """The positions of the loops in the order in which tiles are taken along them."""
    usual, given = _sides_in_order(product.order, found.rows, found.columns), choices.plan.order
    if given in (None, usual):
        return product.order
    *first, last = usual
    swapped = (*first[::-1], last)
    if given != swapped:
        known = " or ".join(dict.fromkeys((" ".join(usual), " ".join(swapped))))
        message = f"is {' '.join(given or ()) or 'empty'}, and the order of tiles is {known}; write one of them"
        choices.refuse("UnsupportedPlan", "order", message)
        return product.order
    sides = {_ROWS: found.rows, _COLUMNS: found.columns}
    others = [place for place in product.order if place not in (*found.rows, *found.columns)]
    return (*others, *(place for side in swapped[:-1] for place in sides[side]))


def _sides_in_order(order: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> tuple[str, ...]:
    """The loops over tiles, outermost first: the sides by their outermost loop, and what is summed up inside."""
    first = {name: min(map(order.index, side)) for name, side in ((_ROWS, rows), (_COLUMNS, columns)) if side}
    return (*sorted(first, key=lambda name: first[name]), _PRODUCTS)


# --- the micro-kernel -------------------------------------------------------------------------------------------------


def _lanes(choices: LoopChoices) -> int | None:
    """The lanes of a vector, where a plan says them."""
    given = choices.plan.vectorize
    if given is None:
        return None
    if given["axis"] not in ("n", "n.i") or given["width"] not in _LANES:
        message = f"is {given['width']} along {given['axis']}; vectors are along n, of {', '.join(map(str, _LANES))}"
        choices.refuse("UnsupportedPlan", "vectorize", f"{message} lanes; write one of them")
        return None
    return given["width"]


def _unroll(choices: LoopChoices) -> int | None:
    """The steps of a panel that are written out, where a plan says them."""
    given = choices.plan.unroll or {}
    for axis in given:
        if axis != _STEP:
            message = f"has {axis}; the loop of the micro-kernel is over {_STEP}: write that, or leave it out"
            choices.refuse("UnsupportedPlan", "unroll", message)
    return given.get(_STEP)
