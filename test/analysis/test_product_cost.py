"""The cost model of products on a CPU: what each part of the predicted time depends on, and what tiles there are."""

import dataclasses

import pytest

from tinyc.analysis.cpu_form import ProductLoops
from tinyc.analysis.product_cost import ProductShape
from tinyc.analysis.product_search import GivenTile, RankedTile, ranked_tiles
from tinyc.analysis.window_box import AxisWindow
from tinyc.expr.extents import Dim, symbol
from tinyc.target import DOT_FORMS, GENERIC_CPU

#: A product of 512 × 512 × 512, whose operands are read in place or copied.
CUBE = ProductShape(
    loops=(512, 512),
    sides=ProductLoops((0,), (1,), has_columns_left=False),
    depth=512,
    taps=1,
    windows=(),
    dot=None,
    element_bytes=4,
    has_rows_inside=False,
    has_columns_inside=True,
    has_guarded_rows=False,
    has_left_in_place=True,
    has_right_in_place=True,
    has_weights=False,
)


def of(m: Dim, n: Dim, k: Dim, **changed) -> ProductShape:
    return dataclasses.replace(CUBE, loops=(m, n), depth=k, **changed)


def timed(shape: ProductShape, *tile: int, left: bool = False, right: bool = True) -> dict[str, float]:
    """The parts of the time of a tile, and their sum."""
    rows, columns, depth = tile
    (found,) = ranked_tiles((shape,), GivenTile((rows, columns, depth), left, right))
    return {**dict(found.time.parts), "all": found.time.seconds}


def fastest(*shapes: ProductShape) -> RankedTile:
    return ranked_tiles(shapes, GivenTile())[0]


def test_what_does_not_fill_the_last_micro_kernel_takes_time():
    assert timed(of(512, 512, 512), 512, 128, 512)["unfilled vectors"] < timed(CUBE, 512, 120, 512)["unfilled vectors"]
    assert timed(of(517, 512, 512), 517, 128, 512)["unfilled vectors"] > timed(CUBE, 512, 128, 512)["unfilled vectors"]


def test_an_operand_is_packed_for_each_tile_of_the_other_side():
    once, twice = timed(CUBE, 512, 128, 512), timed(CUBE, 256, 128, 512)
    assert twice["packing"] == pytest.approx(2 * once["packing"])
    assert timed(CUBE, 512, 128, 512, right=False)["packing"] == 0
    assert timed(dataclasses.replace(CUBE, has_weights=True), 512, 128, 512)["packing"] == 0


def test_sums_are_loaded_and_stored_for_each_panel():
    assert timed(CUBE, 512, 128, 128)["sums"] > 1.5 * timed(CUBE, 512, 128, 256)["sums"]


def test_a_panel_that_takes_much_of_l2_is_waited_for():
    assert timed(CUBE, 512, 256, 512)["reading"] > timed(CUBE, 512, 64, 512)["reading"]


def test_an_odd_number_of_tiles_leaves_threads_idle():
    assert (
        timed(of(128, 768, 768), 128, 256, 256)["idle threads"]
        > timed(of(128, 768, 768), 128, 192, 256)["idle threads"]
    )


def test_few_rows_are_as_fast_as_memory_and_read_the_right_operand_in_place():
    few, many = fastest(of(4, 4096, 4096)), fastest(of(1024, 1024, 1024))
    assert not few.tile.packs_right
    assert not fastest(of(1, 768, 768, has_weights=True)).tile.packs_right
    assert many.tile.packs_right
    assert many.time.limiter == "arithmetic"
    assert few.time.limiter == "reading"


def test_columns_are_on_the_side_that_fills_vectors_and_whose_weights_are_packed_once():
    places = of(512, 49, 2048)
    turned = dataclasses.replace(
        places,
        sides=ProductLoops((1,), (0,), has_columns_left=True),
        has_rows_inside=True,
        has_columns_inside=False,
        has_left_in_place=False,
        has_right_in_place=False,
    )
    assert fastest(places, turned).side == 0
    assert fastest(places, dataclasses.replace(turned, has_weights=True)).side == 1


def test_of_a_size_that_is_not_known_tiles_are_those_that_formation_counts_with():
    found = ranked_tiles((of(symbol("M"), symbol("N"), symbol("K")),), GivenTile(packs_right=True))
    assert {each.tile.sizes for each in found} == {(GENERIC_CPU.tile_rows, GENERIC_CPU.tile_columns, 256)}
    assert fastest(of(symbol("M"), 512, 512)).tile.packs_right


def test_a_plan_leaves_the_rest_to_the_search():
    assert {each.tile.packs_right for each in ranked_tiles((CUBE,), GivenTile(packs_right=True))} == {True}
    sizes = {each.tile.sizes for each in ranked_tiles((CUBE,), GivenTile((84, 32, 128)))}
    assert sizes == {(84, 32, 128)}
    assert len(ranked_tiles((CUBE,), GivenTile((84, 32, 128)))) == 4


#: A convolution of 64 × 56 × 56 places to 64, under windows of 3 × 3.
IMAGE = dataclasses.replace(
    CUBE,
    loops=(64, 56, 56),
    sides=ProductLoops((0,), (1, 2), has_columns_left=False),
    depth=576,
    windows=(AxisWindow(3, 1), AxisWindow(3, 1)),
    has_right_in_place=False,
)


def test_places_that_windows_share_are_packed_once():
    lines = dataclasses.replace(IMAGE, windows=(), taps=9)
    assert timed(IMAGE, 64, 448, 288)["packing"] < timed(lines, 64, 448, 288)["packing"] / 3


def test_what_is_between_the_rows_of_a_box_takes_time():
    lines = dataclasses.replace(IMAGE, windows=(), taps=9)
    assert timed(IMAGE, 64, 224, 288)["unfilled vectors"] > 1.5 * timed(lines, 64, 224, 288)["unfilled vectors"]
    assert timed(IMAGE, 64, 448, 288)["unfilled vectors"] < timed(IMAGE, 64, 224, 288)["unfilled vectors"]


def test_words_of_neighbours_make_deeper_panels():
    assert (
        fastest(dataclasses.replace(of(256, 256, 8192), dot=DOT_FORMS["avxvnni"])).tile.depth
        > fastest(of(256, 256, 8192)).tile.depth
    )


def test_panels_of_windows_are_whole_windows():
    assert all(each.tile.depth % 9 == 0 for each in ranked_tiles((IMAGE,), GivenTile()))
    assert all(
        each.tile.depth % 9 == 0
        for each in ranked_tiles((of(64, 3136, 576, taps=9, has_right_in_place=False),), GivenTile())
    )


def test_few_products_are_read_in_place_all_before_the_next_columns():
    few = fastest(of(64, 12544, 16)).tile
    assert not few.packs_right
    assert few.depth == 16
    assert fastest(of(128, 3136, 256)).tile.packs_right  # their rows are in more pages than are held
    assert fastest(of(64, 12544, 16, has_weights=True)).tile.packs_right


def test_results_that_are_apart_are_stored_one_by_one():
    turned = dataclasses.replace(CUBE, sides=ProductLoops((1,), (0,), has_columns_left=True))
    assert timed(turned, 512, 128, 512)["results"] > 2 * timed(CUBE, 512, 128, 512)["results"] * 0.99
