"""`tinyc explain --fusion`: every edge once, the regions that hold the ops, and what differs between two ledgers."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import onnx
import onnx.parser
import pytest

from tinyc.analysis.graphs import main_function
from tinyc.driver import cli
from tinyc.driver.compile import compile
from tinyc.driver.sources import read_program
from tinyc.explain.fusion import evidence_text, fusion_differences, fusion_tables
from tinyc.explain.fusion_drawing import fusion_drawing
from tinyc.fusion.formation import form_regions
from tinyc.fusion.ledger import FUSION_RULES, Decision, Ledger, RegionEntry, Siblings, ledger_from_json
from tinyc.fusion.regions import Region
from tinyc.target import machine_of
from workloads import WORKLOADS

EXAMPLES = Path(__file__).parents[2] / "examples"
SOFTMAX = str(EXAMPLES / "softmax.json")
SVG = "{http://www.w3.org/2000/svg}"


def region(name, *ops, us=1.0):
    times = {"us": us, "memory_us": 0.5, "compute_us": 0.25, "launch_us": us - 0.5}
    cost = {**times, "read_bytes": 80, "written_bytes": 40, "flops": 10}
    return RegionEntry(name, ops, ("x",), ops[-1:], "rows", ("M", "4"), cost)


def decision(source, target, verdict="fused", rule="loops", **evidence):
    return Decision(source, target, verdict, rule, "2 us apart, 1.5 us as one kernel", "0.5 us more", evidence)


ONE = Ledger(
    "main",
    "cpu",
    (region("r0", "a", "b"), region("r1", "c", us=2.5)),
    (decision("a", "b", saved_bytes=64, fused_us=1.5), decision("b", "c", "kept", "cost", saved_bytes=8)),
)


def run(capsys, *arguments):
    """Return the status, stdout and stderr of `tinyc explain`."""
    status = cli.main(["explain", *map(str, arguments)])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return status, captured.out, captured.err


def usage_error(capsys, *arguments):
    """Return what `tinyc explain` says of a command line that it does not read."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["explain", SOFTMAX, *arguments])
    assert caught.value.code == 2
    return capsys.readouterr().err


# --- tables -----------------------------------------------------------------------------------------------------------


def test_the_tables_have_regions_edges_and_the_meaning_of_the_rules_that_occur():
    costs, contents, edges, rules = map(str, fusion_tables(ONE))
    assert costs.splitlines() == [
        "2 regions of @main for cpu, predicted to take 3.5 us",
        "region   us  us memory  us compute  us launch  read bytes  written bytes  flops  scheme  loops",
        "r0        1        0.5        0.25        0.5          80             40     10  rows    M × 4",
        "r1      2.5        0.5        0.25          2          80             40     10  rows    M × 4",
    ]
    assert contents.splitlines() == [
        "what they hold",
        "region  reads  writes  ops",
        "r0      x      b       a, b",
        "r1      x      c       c",
    ]
    assert edges.splitlines() == [
        "2 edges: 1 fused, 1 kept",
        "edge    verdict  rule   evidence                                          what would flip it",
        "a -> b  fused    loops  2 us apart, 1.5 us as one kernel; saved_bytes 64  0.5 us more",
        "b -> c  kept     cost   2 us apart, 1.5 us as one kernel; saved_bytes 8   0.5 us more",
    ]
    assert rules.splitlines()[2:] == [f"loops  {FUSION_RULES['loops']}", f"cost   {FUSION_RULES['cost']}"]


def test_kernels_that_became_one_without_an_edge_have_their_evidence():
    came = Siblings(("a",), ("b", "c"), ("x",), "2 us apart, 1.5 us as one kernel", {"apart_us": 2, "saved_bytes": 64})
    one, other = ONE.regions
    tables = fusion_tables(replace(ONE, regions=(one, replace(other, siblings=(came,)))))
    assert str(tables[2]).splitlines() == [
        "kernels that became one without an edge between them (siblings)",
        "region  one wrote  the other  both read  evidence",
        "r1      a          b, c       x          2 us apart, 1.5 us as one kernel; saved_bytes 64",
    ]
    assert f"siblings  {FUSION_RULES['siblings']}" in str(tables[-1])


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_the_times_of_a_region_add_up(target, tmp_path, capsys):
    path = tmp_path / "program.json"
    path.write_text(json.dumps(WORKLOADS["transformer_gelu"].build()))
    ledger = ledger_from_json(run(capsys, path, "--fusion-json", "--target", target)[1])
    rows = {row[0]: row for row in fusion_tables(ledger)[0].rows}
    for each in ledger.regions:
        _, us, memory, compute, launch, *_ = rows[each.name]
        assert us == pytest.approx(launch + max(memory, compute), rel=1e-3)


def test_numbers_that_the_reason_has_are_not_said_twice():
    assert evidence_text(decision("a", "b", fused_us=1.5, apart=2)) == "2 us apart, 1.5 us as one kernel"
    assert evidence_text(decision("a", "b", more=5)) == "2 us apart, 1.5 us as one kernel; more 5"


# --- differences ------------------------------------------------------------------------------------------------------


def test_two_equal_ledgers_differ_in_nothing():
    ledgers, rows = fusion_differences(ONE, ONE, ("one", "two"))
    assert rows.title == "0 decisions that differ, 2 edges in both"
    assert rows.rows == ()
    assert [row[1:] for row in ledgers.rows] == [("cpu", 2, 240, 3.5)] * 2


def test_an_edge_that_is_decided_in_two_ways_has_both_reasons():
    kept = replace(decision("a", "b", "kept", "cost", halo=3), reason="it is dear")
    other = Ledger("main", "sm_80", (region("r0", "a"),), (kept, ONE.decisions[1]))
    _, rows = fusion_differences(ONE, other, ("one", "two"))
    assert rows.title == "1 decision that differs, 2 edges in both"
    why = "one: 2 us apart, 1.5 us as one kernel; saved_bytes 64\ntwo: it is dear; halo 3"
    assert rows.rows == (("a -> b", "fused (loops)", "kept (cost)", why),)


def test_an_edge_of_one_ledger_only_is_a_difference():
    other = replace(ONE, decisions=(ONE.decisions[0], decision("c", "d")))
    _, rows = fusion_differences(ONE, other, ("one", "two"))
    assert [row[:3] for row in rows.rows] == [
        ("b -> c", "kept (cost)", "no such edge"),
        ("c -> d", "no such edge", "fused (loops)"),
    ]


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["layer_norm", "gelu_mlp", "resnet", "embedding", "attention"])
def test_the_table_has_the_decisions_of_the_ledger_and_its_regions(name, tmp_path, capsys):
    path = tmp_path / "program.json"
    path.write_text(json.dumps(WORKLOADS[name].build()))
    status, table, _ = run(capsys, path, "--fusion")
    ledger = ledger_from_json(run(capsys, path, "--fusion-json")[1])
    assert status == 0
    assert ledger.target == "cpu"
    assert {each.rule for each in ledger.decisions} <= FUSION_RULES.keys()
    edges = [f"{each.source} -> {each.target}" for each in ledger.decisions]
    assert len(edges) == len(set(edges))
    shown = table.splitlines()
    assert [line.split("  ")[0] for line in shown if " -> " in line] == edges
    assert shown[0].startswith(f"{len(ledger.regions)} region")
    assert [line.split()[0] for line in shown[2 : 2 + len(ledger.regions)]] == [each.name for each in ledger.regions]


def test_the_target_is_that_of_a_run(capsys):
    targets = {
        (): "cpu",
        ("--target", "sim"): "sm_80",
        ("--target", "cuda", "--arch", "sm_90a"): "sm_90a",
        ("--target", "reference"): "cpu",
    }
    for arguments, name in targets.items():
        assert f"for {name}, predicted" in run(capsys, SOFTMAX, "--fusion", *arguments)[1]
    status, _, error = run(capsys, SOFTMAX, "--fusion", "--target", "cpu", "--arch", "sm_80")
    assert (status, "takes no 'arch'" in error) == (1, True)


def test_what_an_edge_that_is_asked_for_changes_is_predicted(capsys):
    plain, asked = (run(capsys, SOFTMAX, "--fusion", *more)[1] for more in ((), ("--no-fuse", "e,z")))
    assert "as asked" not in plain
    (chosen,) = [line.split() for line in asked.splitlines() if line.startswith("not asked")]
    (changed,) = [line.split() for line in asked.splitlines() if line.startswith("as asked")]
    assert (chosen[2:4], changed[2:4]) == (["cpu", "1"], ["cpu", "2"])
    assert float(chosen[-1]) < float(changed[-1])
    assert any(line.startswith("e -> z  fused") and "kept (user)" in line for line in asked.splitlines())


def test_an_edge_that_is_not_there_is_an_error_in_the_program(capsys):
    status, out, error = run(capsys, SOFTMAX, "--fusion", "--fuse", "m,e")
    assert (status, out) == (1, "")
    assert error == f"{SOFTMAX}: error: 'e' does not read 'm'; name what reads it: d [TC206 IllegalFusion]\n"


def test_each_op_is_a_kernel_where_that_is_asked_for(capsys):
    out = run(capsys, SOFTMAX, "--fusion", "none")[1]
    assert out.startswith("6 regions of @main")
    assert "kept     user" in out
    assert any(line.split()[:4] == ["as", "asked", "cpu", "6"] for line in out.splitlines())
    assert run(capsys, "--fusion", "none", SOFTMAX)[1] == out
    ledger = ledger_from_json(run(capsys, SOFTMAX, "--fusion-json", "--fusion=none")[1])
    assert len(ledger.regions) == 6


def test_a_program_may_follow_the_option(capsys):
    assert run(capsys, "--fusion", SOFTMAX) == run(capsys, SOFTMAX, "--fusion")


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_plan_table_asks_for_edges_as_it_does_of_a_run(target, tmp_path, capsys):
    table = tmp_path / "table.json"
    table.write_text('{"fusion": {"no_fuse": [["e", "z"]]}}')
    plan = ("--plan", table, "--target", target)
    as_options = ("--no-fuse", "e,z", "--target", target)
    assert run(capsys, SOFTMAX, "--fusion", *plan) == run(capsys, SOFTMAX, "--fusion", *as_options)
    ledger = ledger_from_json(run(capsys, SOFTMAX, "--fusion-json", *plan)[1])
    model = compile(SOFTMAX, target=target, plan=table)
    assert model.text("region").count('"region.kernel"') == len(ledger.regions) == 2


@pytest.mark.parametrize(
    ("option", "view"),
    [
        (("--fuse", "e,z"), ()),
        (("--no-fuse", "e,z"), ()),
        (("--fuse", "e,z"), ("--block", "e")),
        (("--plan", "{}"), ("--block", "e")),
    ],
)
def test_what_is_asked_of_regions_needs_a_view_of_them(option, view, capsys):
    also = "give --fusion, --fusion-json, --fusion-svg FILE, --fusion-diff, --memory, --summary or --plan, too"
    assert f"argument {option[0]}: it is about which ops share a kernel; {also}" in usage_error(capsys, *option, *view)


@pytest.mark.parametrize("view", ["--fusion-json", "--fusion-diff", "--access=e"])
def test_one_view_is_shown_at_a_time(view, capsys):
    other = (SOFTMAX,) if view == "--fusion-diff" else ()
    message = f"argument --fusion: not allowed with argument {view.partition('=')[0]}"
    assert message in usage_error(capsys, *other, "--fusion", view)
    if view == "--access=e":
        assert message in usage_error(capsys, view, "--fusion", "none")


def test_nothing_else_is_asked_by_the_option(capsys):
    assert "--fusion: 'all' is not 'none', which fuses nothing" in usage_error(capsys, "--fusion=all")


def test_an_output_and_its_bytes_are_the_same_for_every_hash_seed(tmp_path):
    path = tmp_path / "program.json"
    path.write_text(json.dumps(WORKLOADS["transformer_gelu"].build()))
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "tinyc.driver.cli", "explain", path]
        texts = [
            subprocess.run([*command, *arguments], env=environment, capture_output=True, check=True).stdout
            for arguments in (["--fusion"], ["--fusion-json"], ["--fusion-svg", tmp_path / "drawing.svg"])
        ]
        found.add((*texts, (tmp_path / "drawing.svg").read_bytes()))
    assert len(found) == 1


# --- the drawing ------------------------------------------------------------------------------------------------------


def drawn(path, capsys, *arguments):
    """Return the drawing of a program: the root element, and its groups of a class."""
    file = path.with_suffix(".svg")
    assert run(capsys, path, "--fusion-svg", file, *arguments)[:2] == (0, "")
    root = ElementTree.fromstring(file.read_text())
    return lambda kind: [each for each in root.iter(f"{SVG}g") if each.attrib["class"] == kind]


def lines(element):
    return [each.text for each in element.iter(f"{SVG}text")]


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("name", ["softmax", "gelu_mlp", "rotary_pairs", "embedding", "transformer_gelu"])
def test_the_drawing_has_the_regions_with_their_ops_the_inputs_and_the_results(name, target, tmp_path, capsys):
    path = tmp_path / "program.json"
    path.write_text(json.dumps(WORKLOADS[name].build()))
    ledger = ledger_from_json(run(capsys, path, "--fusion-json", "--target", target)[1])
    groups = drawn(path, capsys, "--target", target)
    assert [lines(each)[0].split(":")[0] for each in groups("frame")] == [each.name for each in ledger.regions]
    ops = sorted(op for region in ledger.regions for op in region.ops)
    assert sorted(lines(each)[0] for each in groups("box")) == ops
    document = json.loads(path.read_text())
    inputs = [node["id"] for node in document["uops"] if node["uop"] == "INPUT"]
    assert sorted(lines(each)[0] for each in groups("input")) == sorted(inputs)
    assert [lines(each) for each in groups("output")] == [[f"return {name}"] for name in document["outputs"]]


def test_a_line_says_the_decision_of_its_edge(tmp_path, capsys):
    path = tmp_path / "program.json"
    path.write_text(json.dumps(WORKLOADS["gelu_mlp"].build(rows=64, width=64, hidden=256)))
    ledger = ledger_from_json(run(capsys, path, "--fusion-json")[1])
    groups = drawn(path, capsys)
    said = {title.text for kind in ("fused", "kept") for each in groups(kind) for title in each.iter(f"{SVG}title")}
    text = "\n".join(said)
    computed = {op for region in ledger.regions for op in region.ops}
    for each in ledger.decisions:
        edge = f"{each.source} -> {each.target}: {each.verdict} ({each.rule})"
        assert (edge in text) == (each.source in computed), edge


def test_a_value_that_two_regions_compute_is_drawn_in_both():
    module = read_program(WORKLOADS["affine_relu"].build())
    with module.context:
        formation = form_regions(main_function(module), machine_of("cpu"))
        (whole,) = formation.regions
        first, *rest = whole.members
        shared = Region((first, rest[0]), (rest[0],), whole.reads, whole.priced, whole.plan)
        last = Region((first, *rest[1:]), whole.results, (*whole.reads, rest[0]), whole.priced, whole.plan)
        entries = (formation.ledger.regions[0], replace(formation.ledger.regions[0], name="r1"))
        both = replace(formation, regions=(shared, last), ledger=replace(formation.ledger, regions=entries))
        drawing = fusion_drawing(both)
    assert [value.group for value in drawing.values if value.lines[0] == first] == ["r0", "r1"]
    (between,) = [edge for edge in drawing.edges if edge.source.startswith("r0/") and edge.target.startswith("r1/")]
    assert between.kind == "kept"


# --- two of them ------------------------------------------------------------------------------------------------------


def test_programs_and_ledgers_are_compared(tmp_path, capsys):
    ledger = tmp_path / "ledger.json"
    ledger.write_text(run(capsys, SOFTMAX, "--fusion-json")[1])
    status, out, _ = run(capsys, SOFTMAX, ledger, "--fusion-diff")
    assert status == 0
    assert "0 decisions that differ" in out
    document = json.loads(ledger.read_text())
    changed = document["decisions"][0]
    changed["verdict"], changed["rule"] = "kept", "user"
    ledger.write_text(json.dumps(document))
    out = run(capsys, ledger, SOFTMAX, "--fusion-diff")[1]
    assert "1 decision that differs" in out
    edge = f"{changed['source']} -> {changed['target']}"
    assert any(line.startswith(edge) and "kept (user)" in line for line in out.splitlines())


def test_a_program_is_compared_with_another(capsys):
    out = run(capsys, SOFTMAX, EXAMPLES / "layer_norm.json", "--fusion-diff")[1]
    assert "no such edge" in out
    assert str(EXAMPLES / "layer_norm.json") in out


def test_an_onnx_model_is_compared_with_another(tmp_path, capsys):
    for name, fn in (("one", "Relu"), ("two", "Neg")):
        graph = f"g (float[4,8] x, float[8,6] w) => (float[4,6] y) {{ h = MatMul(x, w) y = {fn}(h) }}"
        onnx.save(
            onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 21]> {graph}'), tmp_path / f"{name}.onnx"
        )
    status, out, error = run(capsys, tmp_path / "one.onnx", tmp_path / "two.onnx", "--fusion-diff")
    assert (status, error) == (0, "")
    assert "0 decisions that differ, 1 edge in both" in out


def test_a_file_that_is_neither_is_refused(tmp_path, capsys):
    bad = tmp_path / "bad.json"
    for text in ('{"decisions": 1}', "[" * 100_000, "", '{"uops": []}'):
        bad.write_text(text)
        status, out, error = run(capsys, SOFTMAX, bad, "--fusion-diff")
        assert (status, out) == (1, "")
        assert error.startswith(str(bad))
    status, _, error = run(capsys, SOFTMAX, tmp_path / "none.json", "--fusion-diff")
    assert (status, "cannot read the file" in error) == (1, True)


@pytest.mark.parametrize("arguments", [["--fusion-diff"], ["other.json"], ["other.json", "--fusion"]])
def test_two_programs_are_for_the_comparison(arguments, capsys):
    assert "--fusion-diff: it compares two programs or ledgers" in usage_error(capsys, *arguments)


def test_a_program_without_any_edge_has_its_regions(tmp_path, capsys):
    path = tmp_path / "program.json"
    path.write_text(json.dumps(WORKLOADS["transpose"].build()))
    out = run(capsys, path, "--fusion")[1]
    assert "1 region of @main" in out
    assert "0 edges: 0 fused, 0 kept" in out
    assert drawn(path, capsys)("frame")


def test_a_drawing_that_cannot_be_written_is_an_error(tmp_path, capsys):
    status, _, error = run(capsys, SOFTMAX, "--fusion-svg", tmp_path / "none" / "drawing.svg")
    assert (status, "cannot write the file" in error) == (1, True)
