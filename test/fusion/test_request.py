"""What a user asks of fusion: edges to be fused or kept, checked for legality, with the predicted difference."""

import numpy as np
import pytest

import tinyc
from analysis_programs.tiny_programs import Program
from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.dialects.region import ops as region
from tinyc.dialects.registry import context
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.fusion.formation import form_regions
from tinyc.fusion.ledger import FUSION_RULES
from tinyc.fusion.request import FusionRequest, fusion_request, request_of
from tinyc.target import GENERIC_CPU, SM80
from workloads import WORKLOADS

CHAIN = {
    "uops": [
        {"id": "x", "uop": "INPUT", "src": [], "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4, 5]}},
        {"id": "a", "uop": "NEG", "src": ["x"], "arg": {}},
        {"id": "b", "uop": "RELU", "src": ["a"], "arg": {}},
        {"id": "y", "uop": "EXP2", "src": ["b"], "arg": {}},
    ]
}


def kept_edges(**options):
    """The edges that are kept, by reader, each by the rule that is right."""
    model = tinyc.compile(CHAIN, **options)
    x = np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5)
    np.testing.assert_allclose(model(x), np.exp2(np.maximum(-x, 0)), rtol=1e-6)
    kept = [each.evidence for each in model.remarks if each.code == "fusion-kept"]
    assert {each["rule"] for each in kept} <= {"user"}
    return [each["target"] for each in kept]


def test_a_chain_is_one_kernel():
    assert kept_edges() == []


def test_an_edge_that_is_to_be_kept_is_kept():
    assert kept_edges(fusion={"no_fuse": [("a", "b")]}) == ["b"]


def test_nothing_is_fused_where_that_is_asked_for():
    assert kept_edges(fusion="none") == ["b", "y"]


def test_a_request_reports_the_predicted_difference():
    model = tinyc.compile(CHAIN, fusion={"no_fuse": [("a", "b")]})
    (told,) = [each for each in model.remarks if each.code == "fusion-request"]
    assert told.message == "as asked for, 10.0 us are predicted; 5.002 us without the request"
    assert told.evidence == {"asked_us": 10.0, "free_us": 5.002}


def test_what_is_fused_anyhow_is_fused_as_it_pays():
    """Each of the two readers computes `n`; to ask for one of the edges changes nothing."""
    p = Program(x="f32 8192 8192")
    y = p.neg(p["x"], name="n")
    rows, columns = (p.op("reduce", y, op="max", axes=(k,), element="f32", name=f"r{k}") for k in (1, 0))
    p.result(rows, columns)
    free, asked = (ledger_of(p, SM80, request) for request in (None, FusionRequest(fuse=(("n", "r1"),))))
    assert [each.rule for each in free.decisions] == ["recompute", "recompute"]
    assert asked == free


def gathered_and_read():
    """`y` reads `n`, and what indices choose of it: `n` is in memory, and may be computed by `y` as well."""
    p = Program(x="f32 4096", i="i64 4096")
    n = p.neg(p["x"], name="n")
    return p.result(p.op("add", n, p.gather(n, p["i"], axis=0, name="g"), name="y"))


@pytest.mark.parametrize("machine", [GENERIC_CPU, SM80], ids=["cpu", "sm_80"])
def test_a_value_in_memory_may_be_computed_by_a_reader_as_well(machine):
    """The kernel of `y` reads `n` where indices say, and computes it where `y` reads it: one edge is kept."""
    asked = ledger_of(gathered_and_read(), machine, FusionRequest(fuse=(("n", "y"), ("g", "y"))))
    verdicts = {(each.source, each.target): (each.verdict, each.rule) for each in asked.decisions}
    assert verdicts["n", "g"] == ("kept", "data")
    assert verdicts["n", "y"][0] == "fused"
    assert verdicts["g", "y"][0] == "fused"
    assert [each.writes for each in asked.regions] == [("n",), ("y",)]
    message = refusal("IllegalFusion", {"fuse": [("n", "y"), ("n", "g")]}, gathered_and_read().module)
    assert message.startswith("'n' cannot be fused into 'g': 'g' reads it where its data says")


def test_an_edge_that_comes_along_with_one_that_is_asked_for_is_not_said_to_be():
    p = Program(x="f32 8192 64")
    total = p.sum(p["x"], 1, name="s")
    p.result(p.neg(total, name="m"), p.sum(total, 0, name="t"))
    asked = ledger_of(p, SM80, FusionRequest(fuse=(("s", "t"),)))
    rules = {(each.source, each.target): (each.verdict, each.rule) for each in asked.decisions}
    assert rules["s", "t"] == ("fused", "user")
    assert rules["s", "m"][1] != "user"


def test_a_request_for_nothing_changes_nothing():
    p = Program(x="f32 64 64")
    p.result(p.neg(p.sum(p["x"], 1, name="n"), name="y"))
    assert not FusionRequest()
    assert ledger_of(p, SM80, FusionRequest()) == ledger_of(p, SM80, None)
    assert ledger_of(p, SM80, FusionRequest(none=True)) != ledger_of(p, SM80, None)


def ledger_of(program, machine, request):
    """The decisions about a program."""
    with context():
        return form_regions(program.function.opview, machine, request).ledger


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_the_options_of_the_pass_say_the_same(target):
    options = FusionRequest(keep=(("a", "b"), ("b", "y"))).options()
    assert options == {"no_fuse": "a,b;b,y"}
    assert fusion_request(**options) == request_of({"no_fuse": [("a", "b"), ["b", "y"]]})
    assert kept_edges(target=target, fusion=fusion_request(**options)) == ["b", "y"]


def refusal(name, fusion, program=None):
    """The error that a request meets."""
    with pytest.raises(TinycError) as error:
        tinyc.compile(CHAIN if program is None else program, fusion=fusion)
    assert error.value.name == name
    return error.value.message


def test_values_that_are_not_there_are_named():
    message = refusal("UnknownName", {"fuse": [("a", "c")]})
    assert message == "there is no value 'c' that a kernel could compute or read; there are a, b, y, x"


def test_an_edge_that_is_not_there_is_no_edge():
    message = refusal("IllegalFusion", {"fuse": [("a", "y")]})
    assert message == "'y' does not read 'a'; name what reads it: b"


def test_an_input_is_fused_into_nothing():
    message = refusal("IllegalFusion", {"fuse": [("x", "a")]})
    assert message == "'x', which 'a' reads, is an input: there is nothing to fuse; leave this edge out"


def test_an_edge_is_fused_or_kept():
    message = refusal("IllegalFusion", {"fuse": [("a", "b")], "no_fuse": [("a", "b")]})
    assert message == "'a' and 'b' are to be fused and to be kept apart; ask for one"


def test_the_products_of_a_sum_stay_in_it():
    p = Program(x="f16 8 8")
    program = p.result(p.op("reduce", p.mul(p["x"], p["x"], name="m"), op="sum", axes=(1,), element="f32", name="s"))
    message = refusal("IllegalFusion", {"no_fuse": [("m", "s")]}, program.module)
    assert (
        message == "'m' cannot be kept from 's': it is a product that the sum forms; leave this edge out of 'no-fuse'"
    )


def test_what_no_kernel_can_compute_is_not_fused():
    p = Program(x="f32 8 8", i="i64 8")
    program = p.result(p.gather(p.neg(p["x"], name="n"), p["i"], axis=0, name="g"))
    message = refusal("IllegalFusion", {"fuse": [("n", "g")]}, program.module)
    assert message == (
        "'n' cannot be fused into 'g': 'g' reads it where its data says, or walks it in order "
        f"(data: {FUSION_RULES['data']}); leave this edge out of 'fuse'"
    )


def test_an_edge_that_cannot_be_fused_says_what_would_flip_it():
    p = Program(x="f32 5", i="i64 4")
    part = p.shrink(p.gather(p["x"], p["i"], axis=0, name="g"), lo=(0,), hi=(2,), step=(1,))
    message = refusal("IllegalFusion", {"fuse": [("g", "y")]}, p.result(p.neg(part, name="y")).module)
    assert message == (
        "'g' cannot be fused into 'y': indices of 'g' whose elements nothing reads would not be checked "
        f"(data: {FUSION_RULES['data']}); leave this edge out of 'fuse'; "
        "what would flip it: reading all of its elements"
    )


def test_what_nothing_reads_is_no_edge():
    message = refusal("IllegalFusion", {"fuse": [("y", "a")]})
    assert message == "'a' does not read 'y', which nothing reads; leave this edge out"


@pytest.mark.parametrize("fusion", ["all", {"fuse": "a"}, {"fuse": [("a",)]}, {"fuse": 3}, {"melt": []}, 3])
def test_what_is_no_request_is_refused(fusion):
    assert "fus" in refusal("InvalidOption", fusion)


def test_regions_that_are_formed_already_take_no_request():
    text = tinyc.compile(CHAIN).text("region")
    assert refusal("UnsupportedTarget", {"fuse": [("a", "b")]}, text).endswith("leave 'fusion' out")


@pytest.mark.parametrize("name", ["softmax", "attention", "resnet"])
def test_every_edge_can_be_turned_or_says_why_not(name):
    from tinyc.analysis.graphs import main_function
    from tinyc.driver.sources import read_program

    module = read_program(WORKLOADS[name].build(), {})
    turned = 0
    with module.context:
        function = main_function(module)
        for decision in form_regions(function, GENERIC_CPU).ledger.decisions:
            pair = ((decision.source, decision.target),)
            request = FusionRequest(fuse=pair) if decision.verdict == "kept" else FusionRequest(keep=pair)
            if decision.rule in ("leaf", "product", "cycle"):
                with pytest.raises(TinycError, match="IllegalFusion"):
                    form_regions(function, GENERIC_CPU, request)
                continue
            found = form_regions(function, GENERIC_CPU, request).ledger.decisions
            (now,) = [each for each in found if (each.source, each.target) == pair[0]]
            assert now.verdict != decision.verdict
            turned += 1
    assert turned > 5


# --- a plan table -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_plan_table_may_ask_for_edges(target, tmp_path):
    file = tmp_path / "plan.json"
    file.write_text('{"fusion": {"no_fuse": [["a", "b"]]}}')
    kept = [["a", "b"], ["b", "y"]]
    for plan, fusion, edges in ((file, None, kept[:1]), (file, {"no_fuse": kept[1:]}, kept)):
        model = tinyc.compile(CHAIN, target=target, plan=plan, fusion=fusion)
        decided = [each.evidence for each in model.remarks if each.code == "fusion-kept"]
        assert [[each["source"], each["target"]] for each in decided] == edges


def test_a_pass_heeds_the_edges_of_a_table():
    module = text.parse(tinyc.compile(CHAIN).text("tiny"))
    TinyToRegion(plan='{"fusion": {"no_fuse": [["a", "b"]]}}').run(module)
    assert sum(isinstance(op, region.KernelOp) for op in module.body.operations) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"fuze": []}, "'fusion' has no entry \"fuze\"; did you mean 'fuse'?"),
        ({"fuse": [["a"]]}, "'fusion.fuse[0]' is [\"a\"]; give a list of 2 entries"),
    ],
)
def test_what_a_table_asks_is_checked(asked, message):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(CHAIN, plan={"fusion": asked})
    assert (caught.value.name, caught.value.message) == ("InvalidPlan", message)
