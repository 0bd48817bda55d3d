"""Random programs with fusion as it comes, without, and as is asked for: always the numbers of the reference.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import json
from collections import Counter

from hypothesis import strategies as st

import tinyc
from programs.agreement import assert_agree
from programs.fusion_requests import assert_honoured, assert_refused, drawn_request
from programs.strategies import fusion_programs, programs
from tinyc.executors import reference
from tinyc.fusion.ledger import Decision
from tinyc.fusion.request import NO_FUSION

CASES = st.tuples(st.one_of(fusion_programs(), fusion_programs(), programs()), st.data())


def decisions_of(model):
    """The decisions that a model was compiled with."""
    remarks = [each for each in model.remarks if each.code in ("fusion-fused", "fusion-kept")]
    return [Decision(**each.evidence) for each in remarks]


def outcome(case, **options):
    """What came of a request, after checks of the numbers without it, without fusion, and with it."""
    program, data = case
    document = json.dumps(program.document)
    expected = None

    def compiled(fusion=None):
        nonlocal expected
        model = tinyc.compile(document, bind=program.bind, fusion=fusion, **options)
        module = model.lowering.module("tiny")
        expected = expected or reference.evaluate_module(module, program.inputs)
        assert_agree(program, model.run(**program.inputs), expected, module)
        return decisions_of(model)

    decisions = compiled()
    compiled(NO_FUSION)
    if not decisions:
        return "nothing to ask"
    request = drawn_request(data.draw, decisions)
    try:
        assert_honoured(request, compiled(request.fusion))
    except tinyc.TinycError as error:
        assert_refused(request, error)
        return error.name
    return "met"


def test_cpu_agrees_with_the_reference_whatever_is_fused(random_examples):
    seen = Counter()

    @random_examples(CASES, 40)
    def check(case):
        seen[outcome(case, target="cpu")] += 1

    check()
    assert seen["met"] > 6, seen
    assert seen["IllegalFusion"] > 3, seen


def test_the_simulator_agrees_with_the_reference_whatever_is_fused(random_examples):
    @random_examples(CASES, 4)
    def check(case):
        outcome(case, target="sim")

    check()
