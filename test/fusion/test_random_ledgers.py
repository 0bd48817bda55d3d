"""Ledgers of random programs: every edge once, what the regions say, and what is asked for; the same in each process.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import json
import os
import subprocess
import sys

from hypothesis import strategies as st

from programs.fusion_requests import assert_honoured, assert_refused, drawn_request
from programs.ledgers import assert_consistent
from programs.strategies import fusion_programs, programs
from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError
from tinyc.driver.sources import read_program
from tinyc.fusion.formation import form_regions
from tinyc.fusion.ledger import ledger_to_json
from tinyc.fusion.request import FusionRequest
from tinyc.target import machine_of

MACHINES = ("cpu", "sm_80", "sm_90a")
CASES = st.tuples(st.one_of(fusion_programs(), programs()), st.sampled_from(MACHINES), st.data())


def test_every_edge_is_decided_once_as_the_regions_say(random_examples):
    @random_examples(CASES, 100)
    def check(case):
        program, machine, _ = case
        module = read_program(program.document, program.bind)
        with module.context:
            formation, again = (form_regions(main_function(module), machine_of(machine)) for _ in range(2))
        assert_consistent(formation)
        assert ledger_to_json(again.ledger) == ledger_to_json(formation.ledger)

    check()


def test_each_op_is_a_kernel_where_nothing_is_to_be_fused(random_examples):
    @random_examples(CASES, 100)
    def check(case):
        program, machine, _ = case
        module = read_program(program.document, program.bind)
        with module.context:
            formation = form_regions(main_function(module), machine_of(machine), FusionRequest(none=True))
        assert_consistent(formation)
        assert {each.rule for each in formation.ledger.decisions if each.verdict == "fused"} <= {"leaf", "product"}

    check()


def test_what_is_asked_for_is_met_or_refused_by_name(random_examples):
    @random_examples(CASES, 100)
    def check(case):
        program, machine, data = case
        module = read_program(program.document, program.bind)
        with module.context:
            function, machine = main_function(module), machine_of(machine)
            decisions = form_regions(function, machine).ledger.decisions
            if not decisions:
                return
            request = drawn_request(data.draw, decisions)
            try:
                formation = form_regions(function, machine, FusionRequest(request.fuse, request.keep))
            except TinycError as error:
                assert_refused(request, error)
                return
        assert_consistent(formation)
        assert_honoured(request, formation.ledger.decisions)

    check()


# --- processes --------------------------------------------------------------------------------------------------------

PRINT = """
import json, sys
from tinyc.analysis.graphs import main_function
from tinyc.driver.sources import read_program
from tinyc.fusion.formation import form_regions
from tinyc.fusion.ledger import ledger_to_json
from tinyc.target import machine_of

for document, bind, machine in json.load(sys.stdin):
    module = read_program(document, bind)
    with module.context:
        print(ledger_to_json(form_regions(main_function(module), machine_of(machine)).ledger))
"""


def printed(cases, seed):
    """The ledgers as another process writes them."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.check_output([sys.executable, "-c", PRINT], input=cases, text=True, env=environment)


def test_ledgers_are_the_same_to_the_byte_whatever_the_hash_seed(random_examples):
    cases = []

    @random_examples(CASES, 60)
    def collect(case):
        program, machine, _ = case
        cases.append((program.document, program.bind, machine))

    collect()
    text = json.dumps(cases)
    first = printed(text, 1)
    assert first.count('"verdict"') > 200
    assert printed(text, 2) == first
