"""Groups of blocks of random programs: what a group promises, and the work of forming groups.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import random
import sys
from collections import Counter
from graphlib import TopologicalSorter

import numpy as np
import pytest
from hypothesis import strategies as st

from analysis_oracles.group_oracle import computed_by_step, is_box, loops_of
from analysis_programs.group_programs import windows_program
from analysis_programs.poly_programs import relus
from analysis_programs.tiny_programs import Program
from programs.strategies import programs
from tinyc.analysis.graphs import main_function
from tinyc.analysis.poly.block import NonScopTensor
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import groups, make_fusable_groups, why_not_fusable
from tinyc.analysis.poly_core.live_in import live_in_elements
from tinyc.dialects.registry import context
from tinyc.expr.axes import divisions
from tinyc.importers import tiny_json


def reads_of(item):
    return item.reads if isinstance(item, NonScopTensor) else [access.tensor for access in item.accesses]


def orders(view):
    """Return the pairs of items of which the second has to come after the first."""
    names = {item.name for item in view.items}
    found = {(tensor, item.name) for item in view.items for tensor in reads_of(item) if tensor in names}
    return found | {(edge.source.name, edge.target.name) for edge in view.edges if not edge.in_place}


def check_groups(view):
    """Check all that `make_fusable_groups` promises of what it returns."""
    found = make_fusable_groups(view)
    position = {item.name: number for number, item in enumerate(view.items)}
    assert sorted(name for group in found for name in group) == sorted(block.name for block in view.blocks)
    assert all([position[name] for name in group] == sorted(position[name] for name in group) for group in found)
    can_run_in_order(view, found)
    for group in found:
        results = results_of(view, group)
        blocks = [block for block in view.blocks if block.name in group]
        assert not any(edge.of("anti") or edge.of("output") for edge in view.edges if is_inside(edge, group))
        assert len(group) == 1 or why_not_fusable(blocks, frozenset(results)) is None
        assert len(group) <= groups.MAX_BLOCKS


def results_of(view, group):
    """Return the names of the blocks of a group that are returned, or read outside."""
    outside = {name for item in view.items if item.name not in group for name in reads_of(item)}
    return {name for name in group if name in view.outputs or name in outside}


def is_inside(edge, group):
    return not edge.in_place and edge.source.name in group and edge.target.name in group


def can_run_in_order(view, found):
    """Check that the groups run one after the other, and what is in none can run between them."""
    node = {name: (number,) for number, group in enumerate(found) for name in group}
    before: dict = {}
    for number in range(1, len(found)):
        before.setdefault((number,), set()).add((number - 1,))
    for first, second in orders(view):
        one, other = node.get(first, first), node.get(second, second)
        if one != other:
            before.setdefault(other, set()).add(one)
    assert list(TopologicalSorter(before).static_order()) or not before  # raises CycleError


def random_program(rng: random.Random) -> Program:
    p = Program(x="f32 8 8", i="i64 8")
    values = [p["x"]]
    for _ in range(rng.randint(3, 14)):
        kind, value = rng.choice(["relu", "add", "add", "gather", "8 1", "1 8", "1 1"]), rng.choice(values[-5:])
        if kind == "relu":
            values.append(p.relu(value))
        elif kind == "add":
            values.append(p.add(value, rng.choice(values[-5:])))
        elif kind == "gather":
            values.append(p.gather(value, p["i"], axis=0))
        else:
            axes = tuple(axis for axis, size in enumerate(kind.split()) if size == "1")
            most = p.reshape(p.op("reduce", value, op="max", axes=axes, element="f32"), shape=kind)
            values.append(p.expand(most, shape="8 8", broadcast_dimensions=(0, 1)))
    return p.result(*rng.sample(values[1:], rng.randint(1, 2)), values[-1])


def test_groups_of_reductions_and_gathers_keep_what_is_promised(random_examples):
    @random_examples(st.integers(0, 2**32), 100)
    def check(seed):
        rng = random.Random(seed)
        program = random_program(rng)
        with context():
            view = poly_view(program.function)
            check_groups(view)
            arena = {block.name: rng.choice(["left", "right"]) for block in view.blocks if rng.random() < 0.5}
            check_groups(poly_view(program.function, buffers=arena))

    check()


def test_groups_of_random_programs_keep_what_is_promised(random_examples):
    @random_examples(programs(), 60)
    def check(program):
        module = tiny_json.import_program(program.document)
        with context():
            check_groups(poly_view(main_function(module)))

    check()


# --- What the steps of a group compute --------------------------------------------------------------------------------


def check_steps(view, seen):
    """Check by enumeration that the steps of each group compute all its results, and hold no more than is claimed."""
    for group in make_fusable_groups(view):
        blocks = [block for block in view.blocks if block.name in group]
        results = results_of(view, group)
        loops = loops_of(blocks, results)
        steps = list(computed_by_step(blocks, loops))
        claimed = live_in_elements(blocks, loops)
        inside = [access for block in blocks for access in block.accesses if access.tensor in claimed]
        is_exact = not any(access.guards or any(map(divisions, access.index)) for access in inside) and all(
            is_box(computed[name]) for computed in steps for name in claimed
        )
        read = {access.tensor for access in inside}
        for name in group:
            held = max(int(computed[name].sum()) for computed in steps) if name in read else 0
            assert held <= claimed[name]
            assert held == claimed[name] or not is_exact
            assert name not in results or np.logical_or.reduce([computed[name] for computed in steps]).all()
            seen["results that are read inside"] += name in results and name in read
            seen["exact counts beyond 1"] += is_exact and held > 1
            seen["bounds"] += name in read and not is_exact


def test_the_steps_of_a_group_compute_its_results_and_hold_what_is_claimed(random_examples):
    seen = Counter()

    @random_examples(st.integers(0, 2**32), 200)
    def check(seed):
        rng = random.Random(seed)
        program = windows_program(rng) if rng.random() < 0.8 else random_program(rng)
        with context():
            check_steps(poly_view(program.function), seen)

    check()
    assert all(seen[what] > 0 for what in ("results that are read inside", "exact counts beyond 1", "bounds"))


# --- The work of forming groups ---------------------------------------------------------------------------------------


def rows_and_columns(length):
    """Return maxima over rows and over columns in turn: no two share a loop with what is between."""
    p = Program(x="f32 8 8")
    value = p["x"]
    for number in range(length // 2):
        axis = number % 2
        most = p.op("reduce", value, op="max", axes=(axis,), element="f32")
        wide = p.reshape(most, shape="1 8" if axis == 0 else "8 1")
        value = p.sub(value, p.expand(wide, shape="8 8", broadcast_dimensions=(0, 1)))
    return p.result(value)


def skips(length):
    """Return blocks that each read the one before and one that is far behind."""
    p = Program(x="f32 8 8", i="i64 8")
    values = [p["x"]]
    for number in range(length):
        value = p.gather(values[-1], p["i"], axis=0) if number % 7 == 3 else p.add(values[-1], values[-40:][0])
        values.append(value)
    return p.result(values[-1])


def work(view):
    """Return how many functions are called, built-in ones included, and edges asked about, to form the groups."""
    calls, before = {"all": 0, "can_compute_at": 0}, sys.getprofile()

    def count(frame, event, argument):
        if event in ("call", "c_call"):
            calls["all"] += 1
            calls["can_compute_at"] += event == "call" and frame.f_code.co_name == "can_compute_at"

    sys.setprofile(count)
    try:
        make_fusable_groups(view)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("program", [relus, rows_and_columns, skips])
def test_the_work_grows_with_the_number_of_blocks(program):
    found = []
    for length in (64, 192, 576):
        grown = program(length)
        with context():
            view = poly_view(grown.function)
        make_fusable_groups(view)  # what is remembered of expressions is not counted
        found.append(work(view))
    small, medium, large = found
    assert large["can_compute_at"] <= len(view.edges)
    for what in small:
        # Three times the blocks are added, and each takes what the ones before took.
        assert large[what] - medium[what] <= 3.1 * (medium[what] - small[what])
