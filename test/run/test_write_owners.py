"""Each byte that a kernel writes has one owner: one of its turns, or in a workspace one thread.

`--random-examples N` runs more programs than those of CI, new ones each time.
"""

import json
from collections import Counter

from programs.agreement import assert_agree
from programs.cpu_levels import (
    THREADS,
    CompiledProgram,
    at_every_level,
    bound_example,
    contraction,
    contractions_in_turn,
    needs_team,
    require_level,
)
from programs.example_bindings import BIND
from programs.one_contraction import contractions
from programs.strategies import programs
from programs.write_owners import RecordingExecutable
from tinyc.executors import reference
from tinyc.runtime.cpu_features import HOST

pytestmark = needs_team


def recorded(program, cpu=HOST):
    """Run a program turn by turn, and return how many turns its kernels have together."""
    compiled = CompiledProgram(program, cpu)
    executable = compiled.executable(RecordingExecutable, THREADS[-1])
    try:
        outputs = executable.run(compiled.inputs)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{json.dumps(program.document)}") from None
    assert_agree(program, outputs, reference.evaluate_module(compiled.module, program.inputs), compiled.module)
    return executable.turns


def test_each_write_of_an_example_has_one_owner():
    assert sum(recorded(bound_example(name)) for name in BIND) > 50


@contractions_in_turn
def test_each_write_of_a_contraction_has_one_owner(name, cpu):
    require_level(cpu)
    recorded(contraction(name), cpu)


def test_each_write_of_a_random_program_has_one_owner(random_examples):
    seen = Counter()

    @random_examples(programs(), 12)
    def check(program):
        seen["turns"] += recorded(program)

    check()
    assert seen["turns"] > 50


@at_every_level
def test_each_write_of_a_random_contraction_has_one_owner(random_examples, cpu):
    require_level(cpu)
    seen = Counter()

    @random_examples(contractions(), 12)
    def check(program):
        seen["shared"] += recorded(program, cpu) > 1

    check()
    assert seen["shared"] > 3, "of few of them is there something to share"
