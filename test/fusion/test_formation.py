"""Regions: which ops share a kernel, by which rule, and what keeps them apart."""

import dataclasses

import pytest

from analysis_programs.tiny_programs import Program
from tinyc.dialects.registry import context
from tinyc.fusion.formation import form_regions
from tinyc.fusion.group import MAX_NODES
from tinyc.fusion.pricing import Pricing
from tinyc.schemes.scheme import Acceptance, KernelKind, Resources
from tinyc.target import GENERIC_CPU, SM80, SM90, machine_of

MACHINES = [GENERIC_CPU, SM80, SM90]


def formed(program, machine=SM80, **options):
    """The formation of a program's regions."""
    with context():
        return form_regions(program.function.opview, machine, **options)


def regions_of(formation):
    """The members of each region."""
    return [region.members for region in formation.regions]


def decisions_of(formation):
    """(verdict, rule) of each edge."""
    return {(each.source, each.target): (each.verdict, each.rule) for each in formation.ledger.decisions}


def spread(p, value, shape, where):
    return p.expand(value, shape=shape, broadcast_dimensions=where)


def product(p, left, right, m, n, k, name):
    """The matrix product of `left` [m, k] and `right` [k, n]."""
    lhs, rhs = spread(p, left, f"{m} {n} {k}", (0, 2)), spread(p, p.permute(right, perm=(1, 0)), f"{m} {n} {k}", (1, 2))
    return p.sum(p.mul(lhs, rhs), 2, name=name)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_value_that_is_used_twice_stays_inside(machine):
    p = Program(a="f32 64 32", b="f32 32 48")
    c = product(p, p["a"], p["b"], 64, 48, 32, "c")
    silu = p.mul(
        c, p.recip(p.add(p.exp2(p.neg(c, name="n"), name="e"), p.exp2(c, name="f"), name="s"), name="r"), name="y"
    )
    assert regions_of(formed(p.result(silu), machine)) == [("c", "n", "e", "f", "s", "r", "y")]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_reshape_and_a_transpose_between_a_product_and_its_bias_end_no_region(machine):
    p = Program(a="f32 64 32", b="f32 32 48", bias="f32 16 12 4")
    c = p.reshape(product(p, p["a"], p["b"], 64, 48, 32, "c"), shape="4 16 12 4")
    moved = p.permute(c, perm=(1, 0, 2, 3))
    y = p.add(moved, spread(p, p["bias"], "16 4 12 4", (0, 2, 3)), name="y")
    assert regions_of(formed(p.result(y), machine)) == [("c", "y")]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_product_has_two_epilogues(machine):
    p = Program(a="f32 64 32", b="f32 32 48")
    c = product(p, p["a"], p["b"], 64, 48, 32, "c")
    (region,) = formed(p.result(p.relu(c, name="y"), p.neg(c, name="z")), machine).regions
    assert (region.members, region.results) == (("c", "y", "z"), ("y", "z"))


def test_an_op_between_two_products_is_an_epilogue_and_no_prologue():
    p = Program(a="f32 512 512", b="f32 512 512", c="f32 512 512")
    inner = p.tanh(product(p, p["a"], p["b"], 512, 512, 512, "first"), name="t")
    formation = formed(p.result(product(p, inner, p["c"], 512, 512, 512, "second")))
    assert regions_of(formation) == [("first", "t"), ("second",)]


def test_an_op_on_an_input_is_a_prologue():
    p = Program(a="f32 512 64", b="f32 64 512")
    scaled = p.neg(p["a"], name="n")
    formation = formed(p.result(product(p, scaled, p["b"], 512, 512, 64, "c")))
    assert regions_of(formation) == [("n", "c")]
    assert decisions_of(formation) == {("n", "c"): ("fused", "inline")}


def test_a_prologue_that_is_computed_too_often_is_kept():
    # Every row of tiles computes the operand again: 64 tangents an element.
    p = Program(a="f32 4096 64", b="f32 64 4096")
    value = p["b"]
    for number in range(40):
        value = p.tanh(value, name=f"t{number}")
    formation = formed(p.result(product(p, p["a"], value, 4096, 4096, 64, "c")))
    assert regions_of(formation)[-1] == ("c",)
    (kept,) = [each for each in formation.ledger.decisions if each.verdict == "kept"]
    assert (kept.source, kept.target, kept.rule) == ("t39", "c", "cost")
    assert kept.evidence["fused_us"] > kept.evidence["apart_us"]


def test_a_kernel_stops_where_it_would_have_too_many_ops():
    p = Program(x="f32 64 64")
    value = p["x"]
    for number in range(MAX_NODES + 1):
        value = p.neg(value, name=f"n{number}")
    rules = decisions_of(formed(p.result(value)))
    assert [edge for edge, decided in rules.items() if decided == ("kept", "limit")] == [("n0", "n1")]


def test_a_kernel_stops_where_no_scheme_builds_it_but_element_by_element():
    p = Program(x="f32 64 64")
    rows = p.sum(p["x"], 1, name="rows")
    formation = formed(p.result(rows, p.sum(rows, 0, name="all")))
    assert decisions_of(formation) == {("rows", "all"): ("kept", "scheme")}


def test_a_kernel_stops_where_another_would_run_both_before_and_after_it():
    p = Program(x="f32 64 256")
    total = p.sum(p["x"], 1, name="s")
    searched = p.topk(total, k=64, axis=0, largest=True, name="t")
    decisions = formed(p.result(p.add(total, p.neg(searched, name="n"), name="y"))).ledger.decisions
    (kept,) = (each for each in decisions if (each.source, each.target) == ("s", "y"))
    assert (kept.verdict, kept.rule, kept.evidence) == ("kept", "cycle", {"through": ["t"]})
    assert kept.reason == "'t' would have to run before the kernel, which it is made of, and behind it"


def test_a_view_of_a_buffer_is_in_no_kernel():
    p = Program(x="f32 M N")
    moved = p.reshape(p.neg(p["x"], name="n"), shape="N M", name="v")
    assert decisions_of(formed(p.result(p.neg(moved, name="y"))))["n", "v"] == ("kept", "view")


def test_a_value_that_is_cheaper_to_compute_than_to_read_is_computed_by_each_kernel():
    p = Program(x="f32 8192 8192", i="i64 1024")
    y = p.neg(p["x"], name="n")
    rows = p.op("reduce", y, op="max", axes=(1,), element="f32", name="rows")
    columns = p.op("reduce", y, op="max", axes=(0,), element="f32", name="columns")
    formation = formed(p.result(rows, columns))
    assert [each for each in regions_of(formation) if "n" in each] == regions_of(formation)
    assert {rule for verdict, rule in decisions_of(formation).values() if verdict == "fused"} == {"recompute"}


def test_what_greedy_misses_in_a_window_is_chosen_exactly():
    """To write a sum for two readers pays while what it adds is a kernel of its own, and not when that is inside."""
    p = Program(x="f32 1024 1024")
    y = p.add(p["x"], p.neg(p["x"], name="m"), name="n")
    rows = p.op("reduce", y, op="max", axes=(1,), element="f32", name="rows")
    columns = p.op("reduce", y, op="max", axes=(0,), element="f32", name="columns")
    formation = formed(p.result(rows, columns))
    assert regions_of(formation) == [("m", "n", "rows"), ("m", "n", "columns")]
    assert {*decisions_of(formation).values()} == {("fused", "exact")}
    evidence = formation.ledger.decisions[0].evidence
    assert evidence["exact_us"] < evidence["greedy_us"]


def test_a_residual_is_the_epilogue_of_the_product_before_a_normalisation():
    # The sum of a row joins the normalisation first, and is taken back: one-step rollback.
    p = Program(a="f32 512 512", b="f32 512 512", x="f32 512 512")
    y = p.add(product(p, p["a"], p["b"], 512, 512, 512, "c"), p["x"], name="y")
    total = spread(p, p.sum(p.mul(y, y, name="s"), 1, name="total"), "512 512", (0,))
    formation = formed(p.result(y, p.mul(y, total, name="z")))
    assert regions_of(formation) == [("c", "y"), ("s", "total", "z")]


def test_a_sum_is_in_one_kernel_with_its_products():
    p = Program(x="f16 8 8")
    formation = formed(
        p.result(p.op("reduce", p.mul(p["x"], p["x"], name="m"), op="sum", axes=(1,), element="f32", name="s"))
    )
    assert regions_of(formation) == [("m", "s")]
    assert decisions_of(formation) == {("m", "s"): ("fused", "product")}


def test_a_gather_takes_what_reads_it_and_its_indices():
    p = Program(x="f32 64 32", i="i32 8")
    index = p.cast(p["i"], element="i64", name="index")
    y = p.relu(p.gather(p["x"], index, axis=0, name="g"), name="y")
    assert regions_of(formed(p.result(y))) == [("index", "g", "y")]


def test_what_a_gather_applies_indices_to_is_in_memory():
    p = Program(x="f32 64 32", i="i64 8")
    formation = formed(p.result(p.relu(p.gather(p.neg(p["x"], name="n"), p["i"], axis=0, name="g"), name="y")))
    assert decisions_of(formation)["n", "g"] == ("kept", "data")


def test_so_is_it_where_the_kernel_reads_it_element_by_element_too():
    p = Program(x="f32 64 32", i="i64 64")
    n = p.neg(p["x"], name="n")
    formation = formed(p.result(p.add(n, p.gather(n, p["i"], axis=0, name="g"), name="y")))
    assert regions_of(formation) == [("n",), ("g", "y")]
    kept = ("kept", "data")
    assert decisions_of(formation) == {("n", "g"): kept, ("n", "y"): kept, ("g", "y"): ("fused", "inline")}


@pytest.mark.parametrize("machine", MACHINES)
def test_indices_that_are_sums_are_in_memory(machine):
    p = Program(x="f32 64 32", i="i64 8 3")
    total = p.op("reduce", p["i"], op="sum", axes=(1,), element="i64", name="total")
    index = p.relu(total, name="index")
    formation = formed(p.result(p.relu(p.gather(p["x"], index, axis=0, name="g"), name="y")), machine)
    assert regions_of(formation) == [("total",), ("index", "g", "y")]
    assert decisions_of(formation)["total", "index"] == ("kept", "data")


def test_an_index_that_makes_what_it_is_applied_to_as_well_is_computed_by_both_kernels():
    p = Program(i="i64 64")
    n = p.relu(p["i"], name="n")
    formation = formed(p.result(p.gather(p.neg(n, name="data"), n, axis=0, name="g")))
    assert regions_of(formation) == [("n", "data"), ("n", "g")]
    assert decisions_of(formation)["data", "g"] == ("kept", "data")


def test_a_gather_of_which_a_part_is_read_is_a_kernel_that_checks_all_its_indices():
    p = Program(x="f32 5", i="i64 4")
    part = p.shrink(p.gather(p["x"], p["i"], axis=0, name="g"), lo=(0,), hi=(2,), step=(1,))
    formation = formed(p.result(p.neg(part, name="y")))
    assert regions_of(formation) == [("g",), ("y",)]
    assert decisions_of(formation) == {("g", "y"): ("kept", "data")}


def test_an_index_out_of_range_is_that_of_the_one_gather_of_a_kernel():
    p = Program(x="f32 5", i="i64 4", j="i64 4")
    one, other = (p.gather(p["x"], p[name], axis=0, name=f"g{name}") for name in "ij")
    assert len(regions_of(formed(p.result(p.add(one, other, name="y"))))) == 2


@pytest.mark.parametrize("op", ["set", "add"])
@pytest.mark.parametrize("machine", ["cpu", "sm_90a"])
def test_a_scatter_takes_what_computes_its_data_and_updates_element_by_element(op, machine):
    p = Program(x="f32 64 32", i="i64 8", u="f16 32 8")
    data = p.mul(p["x"], p["x"], name="d")
    updates = p.permute(p.cast(p.neg(p["u"], name="n"), element="f32", name="c"), perm=(1, 0))
    formation = formed(p.result(p.scatter(data, p["i"], updates, axis=0, op=op, name="y")), machine_of(machine))
    (region,) = regions_of(formation)
    assert {"d", "n", "c", "y"} <= set(region)
    assert {verdict for verdict, _ in decisions_of(formation).values()} == {"fused"}


def test_a_scatter_does_not_take_its_indices_nor_what_is_read_elsewhere_nor_a_reduction():
    p = Program(x="f32 64", i="i32 8", u="f32 8", w="f32 8 5")
    index = p.cast(p["i"], element="i64", name="index")
    updates = p.exp2(p["u"], name="e")
    total = p.op("reduce", p["w"], op="max", axes=(1,), element="f32", name="total")
    one = p.scatter(p["x"], index, updates, axis=0, op="add", name="one")
    other = p.scatter(one, index, total, axis=0, op="set", name="other")
    formation = formed(p.result(p.neg(other, name="y"), updates))
    decisions = decisions_of(formation)
    assert decisions["index", "one"] == decisions["index", "other"] == ("kept", "data")
    assert decisions["one", "other"][0] == decisions["total", "other"][0] == decisions["other", "y"][0] == "kept"


def test_an_index_out_of_range_is_that_of_a_scatter_or_of_the_gather_of_its_updates():
    p = Program(x="f32 64", i="i64 8", j="i64 8", u="f32 9")
    updates = p.gather(p["u"], p["j"], axis=0, name="g")
    formation = formed(p.result(p.scatter(p["x"], p["i"], updates, axis=0, op="add", name="y")))
    assert regions_of(formation) == [("g",), ("y",)]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_kernel_that_would_run_before_and_after_another_is_two(machine):
    p = Program(x="f32 256 256 512")
    rows = p.op("reduce", p["x"], op="max", axes=(2,), element="f32", name="rows")
    whole = p.op("reduce", rows, op="max", axes=(0, 1), element="f32", name="whole")
    formation = formed(p.result(p.add(rows, spread(p, whole, "256 256", ()), name="y")), machine)
    assert regions_of(formation) == [("rows",), ("whole",), ("y",)]
    assert decisions_of(formation)["rows", "y"] == ("kept", "cycle")


def test_each_kernel_computes_again_what_is_cheap_so_that_none_runs_before_and_after_another():
    p = Program(x="f32 64 64")
    near = p.relu(p["x"], name="near")
    whole = p.op("reduce", near, op="max", axes=(0, 1), element="f32", name="whole")
    total = p.op("reduce", near, op="max", axes=(1,), element="f32", name="total")
    wide = spread(p, p.reshape(p.add(total, spread(p, whole, "64", ()), name="a"), shape="64 1"), "64 64", (0, 1))
    formation = formed(p.result(p.add(near, wide, name="y")))
    assert regions_of(formation) == [("near", "whole"), ("near", "total", "a", "y")]


def test_an_edge_into_a_value_that_two_kernels_compute_says_how_many_have_both():
    p = Program(x="f16 3 4")

    def and_its_sum(value, axis, shape, where, name):
        total = p.op("reduce", value, op="sum", axes=(axis,), element="f16", name=f"{name}s")
        return total, p.add(value, spread(p, total, shape, where), name=name)

    one, y = and_its_sum(p["x"], 1, "3 4", (0,), "y")
    other, z = and_its_sum(y, 1, "3 4", (0,), "z")
    last = [and_its_sum(each, 0, "3", (), name)[1] for each, name in ((one, "u"), (other, "v"))]
    formation = formed(p.result(last[0], z, last[1]))
    with_y = [region for region in regions_of(formation) if "y" in region]
    with_both = [region for region in with_y if "ys" in region]
    assert (len(with_y), len(with_both)) == (2, 1)
    (decision,) = (each for each in formation.ledger.decisions if (each.source, each.target) == ("ys", "y"))
    assert (decision.verdict, decision.evidence) == ("kept", {"kernels": 2, "with_both": 1})
    assert decision.reason == "1 of 2 kernels with 'y' have 'ys', too; else it is in memory"


def test_symbolic_extents_are_decided_as_if_they_were_numbers():
    p = Program(x="f32 M N")
    y = p.relu(p.neg(p["x"], name="n"), name="y")
    assert regions_of(formed(p.result(y))) == [("n", "y")]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_ledger_says_which_reductions_of_one_input_came_together_and_what_that_saves(machine):
    p = Program(x="f32 8192 1024")
    results = [p.op("reduce", p["x"], op=op, axes=(1,), element="f32", name=f"{op}s") for op in ("max", "min", "sum")]
    formation = formed(p.result(*results), machine)
    assert regions_of(formation) == [("maxs", "mins", "sums")]
    (region,) = formation.ledger.regions
    assert [(each.one, each.other, each.read) for each in region.siblings] == [
        (("maxs",), ("mins",), ("x",)),
        (("maxs", "mins"), ("sums",), ("x",)),
    ]
    for each in region.siblings:
        assert each.evidence["apart_us"] > each.evidence["fused_us"]
        assert each.evidence["saved_bytes"] == 4 * 8192 * 1024


def test_a_region_whose_ops_read_each_other_has_no_siblings():
    p = Program(x="f32 64 64")
    formation = formed(p.result(p.neg(p.sum(p["x"], 1, name="s"), name="y")))
    assert [region.siblings for region in formation.ledger.regions] == [()]


# --- the limits of 000 §4.2 -------------------------------------------------------------------------------------------


class Stub(KernelKind):
    """Takes any kernel; one that reads more than two tensors takes more."""

    name = "generic"

    def __init__(self, **grown):
        self.grown = grown

    def accepts(self, candidate, target):
        few = Resources((4096, 1, 1), 256, shared_bytes=1024, accumulator_registers_per_thread=8)
        reads = max(len(phase.block.accesses) for phase in candidate.loops.phases)
        return Acceptance("", dataclasses.replace(few, **self.grown) if reads > 2 else few)


def decided_with(**grown):
    """The decision on an edge whose fusion gives a kernel these resources."""
    p = Program(**dict.fromkeys("xzw", "f32 2048 2048"))
    program = p.result(p.add(p.add(p["x"], p["z"], name="a"), p["w"], name="y"))
    (decision,) = formed(program, pricing=Pricing(SM80, [Stub(**grown)])).ledger.decisions
    return decision


def test_a_kernel_within_all_limits_is_fused():
    assert (decided_with().verdict, decided_with().rule) == ("fused", "inline")


def test_a_kernel_stops_at_80_percent_of_the_shared_memory_of_a_cta():
    room = int(SM80.shared_bytes_per_cta_optin * 0.8)
    assert decided_with(shared_bytes=room).rule != "shared-memory"
    kept = decided_with(shared_bytes=room + 1)
    assert (kept.verdict, kept.rule) == ("kept", "shared-memory")
    assert kept.evidence == {"shared_bytes": room + 1}
    assert kept.flip == "1 bytes less"


def test_a_kernel_stops_where_one_cta_is_left_on_a_multiprocessor():
    kept = decided_with(accumulator_registers_per_thread=128)
    assert (kept.verdict, kept.rule) == ("kept", "occupancy")
    assert kept.reason.startswith("1 CTA of 256 threads would be resident on a multiprocessor, where 5 are")
    assert kept.evidence == {"ctas_per_sm": 1, "threads_per_sm": 256}


def test_one_cta_of_many_threads_is_no_stop():
    assert decided_with(threads_per_cta=1024).rule != "occupancy"


def test_narrow_accesses_are_no_stop_where_memory_takes_no_time():
    p = Program(x="f16 3 129")
    x = p.cast(p["x"], element="f32", name="w")
    total = spread(p, p.sum(x, 1, name="s"), "3 129", (0,))
    assert len(formed(p.result(p.sub(x, total, name="y"))).regions) == 1


@pytest.mark.parametrize("machine", MACHINES)
def test_a_kernel_writes_nothing_that_only_it_reads(machine):
    """A cross entropy of few rows: the maximum was written for a kernel that is one with its own in the end."""
    p = Program(x="f16 4 32000", t="i32 4")
    x = p.cast(p["x"], element="f32", name="w")
    greatest = p.op("reduce", x, op="max", axes=(1,), element="f32", name="m")
    below = p.sub(x, spread(p, greatest, "4 32000", (0,)), name="d")
    total = p.log2(p.sum(p.exp2(p.mul(below, p.const(shape="4 32000", element="f32", value=1.5))), 1), name="l")
    at = p.cmp_eq(p.iota(shape="4 32000", axis=1, element="i32"), spread(p, p["t"], "4 32000", (0,)))
    chosen = p.sum(p.where(at, x, p.const(shape="4 32000", element="f32", value=0.0)), 1, name="k")
    formation = formed(p.result(p.sub(p.add(total, greatest), chosen, name="y")), machine)
    read = {name for region in formation.ledger.regions for name in region.reads}
    assert {name for region in formation.ledger.regions for name in region.writes} <= {"y", *read}


@pytest.mark.parametrize("width", [4, 8])
def test_a_kernel_stops_where_accesses_become_narrower(width):
    kept = decided_with(vector_bytes=width)
    assert (kept.verdict, kept.rule) == ("kept", "vector-width")
    assert kept.reason == f"accesses would be {width} bytes wide, and are 16"


def test_a_kernel_stops_where_it_leaves_the_tiles_of_the_tensor_cores():
    assert decided_with(leaves_tiles="a tile of 64 x 8").rule == "tile"


def test_a_kernel_stops_where_the_predicted_time_grows():
    kept = decided_with(grid=(1, 1, 1))
    assert (kept.verdict, kept.rule) == ("kept", "cost")
    assert kept.evidence["fused_us"] > kept.evidence["apart_us"]


# --- the order of tensors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES)
def test_every_edge_is_decided_once(machine):
    p = Program(x="f32 64 64", i="i64 8")
    y = p.relu(p.gather(p.neg(p["x"], name="n"), p["i"], axis=0, name="g"), name="y")
    formation = formed(p.result(y, p.sum(y, 1, name="s")), machine)
    edges = [
        (node.label, formation.graph.labels[reader])
        for node in formation.graph.nodes.values()
        for reader in node.readers
    ]
    assert [(each.source, each.target) for each in formation.ledger.decisions] == edges


# --- what Poly Core says (000 §4.1) -----------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES)
def test_a_kernel_stops_where_every_tile_lacks_a_part_of_a_sum(machine):
    """Columns are scaled by their sums of what rows give: no tile of columns holds a row, and one CTA is no machine."""
    p = Program(x="f32 2048 512")
    rows = p.fdiv(p["x"], spread(p, p.sum(p["x"], 1, name="r"), "2048 512", (0,)), name="y")
    formation = formed(p.result(p.sum(rows, 0, name="c")), machine)
    (kept,) = (each for each in formation.ledger.decisions if each.verdict == "kept")
    assert (kept.source, kept.target, kept.rule) == ("r", "y", "legality")
    assert kept.evidence["witness"] in kept.reason
    assert kept.evidence["witness"].startswith("r[")


@pytest.mark.parametrize("machine", MACHINES)
def test_a_kernel_stops_where_tiles_would_compute_a_large_halo(machine):
    """Windows of 65,536 elements, each of which would compute what it reads: 262,140 bytes beyond its own."""
    p = Program(x="f32 4 131072")
    windows = p.pool(p.exp2(p["x"], name="e"), kernel=(65536,), stride=(1,), dilation=(1,))
    formation = formed(p.result(p.op("reduce", windows, op="max", axes=(2,), element="f32", name="y")), machine)
    (kept,) = formation.ledger.decisions
    assert (kept.verdict, kept.rule, kept.evidence["halo_bytes"]) == ("kept", "halo", 4 * 65535)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_small_halo_is_evidence(machine):
    p = Program(x="f32 4 1024")
    windows = p.pool(p.neg(p["x"], name="n"), kernel=(3,), stride=(1,), dilation=(1,))
    (decision,) = formed(
        p.result(p.op("reduce", windows, op="max", axes=(2,), element="f32", name="y")), machine
    ).ledger.decisions
    assert (decision.verdict, decision.evidence["halo_bytes"]) == ("fused", 8)
