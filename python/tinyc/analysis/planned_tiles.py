"""Products and attention in tiles as a plan asks for them, and the decisions of both as a plan has them.

In: the fused loops of a kernel of one of these forms, and a plan's choices. Out: a `CpuProduct` or a `CpuAttention`;
what it cannot have is refused. In a plan the operand that has the rows is A, and m is along them; the one with the
columns is B, and n is along these. Of attention, m is along queries, n along keys, and k along the elements of both.
"""

from collections.abc import Sequence
from dataclasses import replace

from tinyc.analysis.cpu_attention import CpuAttention, cpu_attention
from tinyc.analysis.cpu_form import AttentionLoops, ProductLoops
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.judged_products import STRIDE_HINT, judged_products, memory_fault, size_fault, stride_of
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.loop_choices import Decisions, LoopChoices, leading_axes
from tinyc.analysis.tile_sides import sized_side
from tinyc.target import DotForm

#: Keys are taken in micro-kernels of 6 or of 14, by the CPU.
_KEYS = 42
#: The lanes that a vector of a micro-kernel may have.
_LANES = (4, 8, 16)
_ROWS, _COLUMNS, _PRODUCTS = "m.o", "n.o", "k.o"
#: The axis whose steps the micro-kernel takes.
_STEP = "k.i"


def planned_product(kernel: KernelLoops, choices: LoopChoices, dot: DotForm | None = None) -> CpuProduct:
    """The product that a kernel is, in the fastest tiles that the choices of a plan leave.

    `dot` is what the CPU multiplies neighbours by.
    """
    lanes, unroll = _lanes(choices), _unroll(choices)
    judged = judged_products(kernel, choices, lanes=lanes, dot=dot)
    fastest = next(judged)
    chosen = fastest if not fastest.faults else next((each for each in judged if not each.faults), fastest)
    for fault in chosen.faults:
        choices.refuse(*fault)
    product = chosen.product
    product = replace(product, asked=replace(product.asked, unroll=unroll))
    order = _order(product, product.sides, choices)
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
    tile = product.asked.tile
    pack = {"A": not product.reads_left_in_place, "B": not product.reads_right_in_place, "block": tile}
    order = _sides_in_order(product.order, product.sides.rows, product.sides.columns)
    return {
        "tile": tile,
        "order": order,
        "layout_hints": {STRIDE_HINT: stride_of(product.sides)},
        "pack": pack,
        "loop": {"parallelize": leading_axes(product.parallel)},
    }


# --- tiles of attention -----------------------------------------------------------------------------------------------


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
    side = sized_side(attention.kernel.loops.extents, attention.phases.queries, queries)
    tiled = replace(attention, queries=side, key_tile=keys)
    taken = sum(tiled.workspace_sizes) * tiled.accumulator.size_bytes
    for error, fault in (
        ("PlanMismatch", size_fault("m", side, queries)),
        ("ResourceExceeded", memory_fault(taken, 0)),
    ):
        if fault:
            choices.refuse(error, "tile", fault)
            return attention
    return tiled


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
