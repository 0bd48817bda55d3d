"""The smallest buffer between two blocks, made anew from isl's sets; what is read in place, against isl.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import dataclasses

import islpy as isl
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from analysis_oracles.poly_pairs import by_tile, has_instances, isl_union, pairs, places, reached
from analysis_oracles.poly_pairs import elements as elements_of
from analysis_programs.poly_blocks import axes_of, block, copy_of, read
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess
from tinyc.analysis.poly_core import min_buffer_for_edge
from tinyc.analysis.poly_core.buffer import is_pointwise
from tinyc.expr import axes
from tinyc.target import SM80
from tinyc.vocabulary.element_type import ElementType

KINDS = ("ewise", "reduce", "contraction_pattern")
#: Some are longer than the steps in which a sum is streamed.
EXTENTS = (1, 2, 3, 4, 5, 16, 17, 40)
ELEMENTS = {"f16": 2, "f32": 4, "i1": 1, "f64": 8}


# --- What is read in place --------------------------------------------------------------------------------------------


def own_axes(pair):
    """Return, for each row that all reads share, the axis that isl says it is on the whole domain; None for a constant.

    Raises:
        ValueError: it is neither, or the reads have another row there.
    """
    found = []
    names = [f"a{position}" for position in range(len(pair.consumer.statement.axes))]
    for rows in zip(*(access.index for access in pair.reads), strict=True):
        first, *others = (reached(pair.consumer, PolyAccess("x", (row,))) for row in rows)
        if not all(first.is_equal(other) for other in others):
            raise ValueError
        if first.range().is_singleton():
            found.append(None)
            continue
        plain = [isl.Map(f"{{ {pair.consumer.name}[{', '.join(names)}] -> T[{name}] }}") for name in names]
        found.append([first.is_equal(each.intersect_domain(first.domain())) for each in plain].index(True))
    return found


def reads_own_elements(pair):
    """Say by isl whether all reads are of axes in their order, and constants."""
    try:
        own = [position for position in own_axes(pair) if position is not None]
    except ValueError:
        return False
    return own == sorted(set(own))


def test_pointwise_is_what_isl_says_to_be_the_own_element(random_examples):
    @random_examples(pairs(kinds=KINDS).filter(has_instances), 400)
    def check(pair):
        found = is_pointwise(pair.producer, pair.consumer)
        if pair.consumer.kind == "contraction_pattern":
            assert not found
        elif found or not any(axes.divisions(row) for each in pair.reads for row in each.index):
            assert found == reads_own_elements(pair)

    check()


def test_what_is_pointwise_is_read_in_the_order_in_which_instances_run(random_examples):
    @random_examples(pairs(kinds=KINDS).filter(lambda pair: is_pointwise(pair.producer, pair.consumer)), 150)
    def check(pair):
        relation = isl_union([reached(pair.consumer, each) for each in pair.reads])
        assert relation.is_single_valued()
        own, names = own_axes(pair), [f"a{position}" for position in range(len(pair.consumer.statement.axes))]
        beside = [name for position, name in enumerate(names) if position not in own]
        others = isl.Map(f"{{ {pair.consumer.name}[{', '.join(names)}] -> [{', '.join(beside)}] }}")
        alike = others.apply_range(others.reverse())
        domain, elements = relation.domain(), relation.range()
        later = domain.lex_lt_set(domain).intersect(alike).apply_domain(relation).apply_range(relation)
        assert later.is_subset(elements.lex_lt_set(elements))

    check()


# --- Which buffer, and its bytes --------------------------------------------------------------------------------------


def streamed(pair):
    """Return the sizes of the tile with what it leaves whole in steps, and whether a sum is then taken in parts."""
    rows = [axes.positions(row) for access in pair.reads for row in access.index]
    sizes, parts = dict(pair.sizes), False
    pointwise = is_pointwise(pair.producer, pair.consumer)
    for position, name in enumerate(pair.consumer.statement.axes):
        mine = [row for row in rows if position in row]
        summed = bool(mine) and axes.axis(position, pair.consumer.statement.shape) not in pair.consumer.write
        if name not in sizes and pointwise:
            sizes[name] = 1
        elif name not in sizes and summed and all(row == {position} for row in mine):
            sizes[name] = 16
        parts |= summed and sizes.get(name, 1000) < pair.consumer.statement.shape[position]
    return sizes, parts


def elements_of_a_tile(pair, sizes):
    """Return what isl says to be the elements of the boxes of all footprints; None where a read never takes place."""
    total = 0
    for reads in places(pair):
        box, relation = 1, by_tile(pair.consumer, reads, sizes)
        if any(reached(pair.consumer, each).is_empty() for each in reads):
            return None
        for row in range(len(reads[0].index)):
            rest = len(reads[0].index) - row - 1
            values = relation.project_out(isl.dim_type.out, row + 1, rest).project_out(isl.dim_type.out, 0, row)
            box *= values.reverse().apply_range(values).deltas().dim_max_val(0).to_python() + 1
        total += box
    return total


def with_room(bytes_, stages, margin):
    """Return a target with about room for so many bytes in registers, or for so many stages in a circular buffer."""
    registers, shared = bytes_ // 2 + margin, round(bytes_ * stages / 0.8) + margin
    return dataclasses.replace(SM80, registers_per_cta=max(registers, 1), shared_bytes_per_cta_optin=max(shared, 1))


def test_the_buffer_is_what_isl_s_boxes_make_it(random_examples):
    room = st.tuples(st.integers(1, 4), st.sampled_from([-4, -1, 0, 1, 4]))
    cases = st.tuples(pairs(EXTENTS, KINDS).filter(has_instances), st.sampled_from(sorted(ELEMENTS)), room)

    @random_examples(cases, 300)
    def check(case):
        pair, element, (stages, margin) = case
        producer = dataclasses.replace(pair.producer, element=ElementType(element))
        sizes, parts = streamed(pair)
        elements = elements_of_a_tile(pair, sizes)
        assume(elements is not None)
        stage, whole = elements * ELEMENTS[element], ("gmem", None, elements_of(producer) * ELEMENTS[element])
        target = with_room(stage, stages, margin)
        found = min_buffer_for_edge(producer, pair.consumer, pair.sizes, target)
        if is_pointwise(producer, pair.consumer):
            expected = ("reg", None, stage) if stage <= 2 * target.registers_per_cta else whole
        else:
            room = 0.8 * target.shared_bytes_per_cta_optin
            depth = 3 if parts and 3 * stage <= room else 2
            expected = ("smem_ring", depth, depth * stage) if depth * stage <= room else whole
        assert (found.buffer, found.depth, found.bytes) == expected

    check()


def test_what_is_not_legal_is_in_global_memory(random_examples):
    # A row's maximum: a tile that cuts the row has a part of it only.
    @random_examples(st.tuples(*(st.integers(1, 9) for _ in range(4))), 60)
    def check(case):
        rows, columns, tile_m, tile_n = case
        m, n = axes_of((rows, columns))
        most = block("most", "m n", (rows, columns), read("x", m, n), reduced="n")
        y = block("y", "m n", (rows, columns), read("x", m, n), read("most", m))
        found = min_buffer_for_edge(most, y, {"m": tile_m, "n": tile_n})
        if tile_n < columns:
            assert (found.buffer, found.depth, found.bytes) == ("gmem", None, rows * 4)
        else:
            assert (found.buffer, found.depth, found.bytes) == ("reg", None, min(tile_m, rows) * 4)
        assert found.reason

    check()


def test_what_is_not_affine_reads_a_tensor_from_global_memory():
    x, other = copy_of("input", "x", "a b", (8, 9)), NonScopTensor("g", "a gather", ("x",))
    assert min_buffer_for_edge(x, other).bytes == 8 * 9 * 4
    assert min_buffer_for_edge(other, x).bytes == 0


def test_what_has_no_instances_takes_no_memory():
    shape = (0, 3)
    i, j = axes_of(shape)
    y = block("y", "i j", shape, read("x", i * 4 + j - 1, within=((0, 8),)))
    found = min_buffer_for_edge(copy_of("input", "x", "a", (8,)), y, {"j": 2})
    assert (found.buffer, found.bytes) == ("smem_ring", 0)


def product(*rows):
    """Return a producer of 64 elements along each row, and a product over m, n and k that reads it."""
    shape = (64, 64, 64)
    index = [axes_of(shape)["mnk".index(row)] for row in rows]
    y = block("y", "m n k", shape, read("x", *index), reduced="k", kind="contraction_pattern")
    return copy_of("input", "x", " ".join("ab"[: len(rows)]), (64,) * len(rows)), y


def test_an_operand_is_taken_in_three_stages_along_the_sum():
    found = min_buffer_for_edge(*product("m", "k"), {"m": 32, "n": 32})
    assert (found.buffer, found.depth, found.bytes) == ("smem_ring", 3, 3 * 32 * 16 * 4)


@pytest.mark.parametrize("tile", [{"m": 32}, {"m": 32, "k": 16}])
def test_what_the_sum_does_not_run_over_is_not_taken_again(tile):
    found = min_buffer_for_edge(*product("m"), tile)
    assert (found.buffer, found.depth, found.bytes) == ("smem_ring", 2, 2 * 32 * 4)
