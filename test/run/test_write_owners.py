"""Each byte that a kernel writes has one owner: one of its turns, or in a workspace one thread.

No other kernel of its generation reads it, or writes there.

`--random-examples N` runs more programs than those of CI, new ones each time.
"""

import ctypes
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from programs.agreement import assert_agree
from programs.cpu_levels import (
    EXISTING,
    THREADS,
    CompiledProgram,
    at_every_level,
    contraction,
    contractions_in_turn,
    existing_program,
    needs_team,
    require_level,
)
from programs.one_contraction import contractions
from programs.strategies import Program, programs
from programs.write_owners import KERNEL, RecordingExecutable
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


def test_each_write_of_an_existing_program_has_one_owner():
    assert sum(recorded(existing_program(name)) for name in EXISTING) > 50


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


# --- the check finds what it looks for --------------------------------------------------------------------------------

ELEMENTS = 8
NEGATION = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [ELEMENTS]}},
        {"id": "y", "uop": "NEG", "src": ["x"]},
    ]
}
#: What a kernel does of which a turn should write the element of its number: turns → elements, and what is told of it.
KERNELS = {
    "right": (lambda turns: turns, None),
    "overlapping": (lambda turns: [*turns, max(turns[0] - 1, 0)], "turn 1 writes what turn or thread 0 has written"),
    "with a gap": (lambda turns: [turn for turn in turns if turn != 3], "no turn writes 4 bytes"),
    "another at once": (lambda turns: turns[:1], "all turns together write other bytes than each by itself"),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_a_byte_with_no_owner_or_several_is_told(kind):
    elements_of, told = KERNELS[kind]
    compiled = CompiledProgram(Program(NEGATION, {}, {}, {"x": np.ones(ELEMENTS, np.float32)}, {"y": 0}), HOST)
    executable = compiled.executable(RecordingExecutable, THREADS[-1])

    @KERNEL
    def kernel(bufs, _extents, low, high):
        y = ctypes.c_void_p.from_address(bufs + ctypes.sizeof(ctypes.c_void_p)).value
        for element in elements_of(range(low, high)):
            (ctypes.c_float * ELEMENTS).from_address(y)[element] = -1.0

    functions = dict.fromkeys(executable._kernels.functions, ctypes.cast(kernel, ctypes.c_void_p).value)
    executable._kernels = executable._kernels._replace(functions=functions)
    if told is None:
        assert (executable.run(compiled.inputs)["y"] == -1).all()
        assert executable.turns == ELEMENTS
        return
    with pytest.raises(AssertionError, match=f"kernel 'elementwise_neg': {told}"):
        executable.run(compiled.inputs)


def test_kernels_of_a_generation_that_need_each_other_are_told():
    compiled = CompiledProgram(existing_program("softmax"), HOST, fusion="none")
    assert len({kernel.generation for kernel in compiled.artifact.program.kernels}) > 3
    compiled.executable(RecordingExecutable, THREADS[-1]).run(compiled.inputs)
    at_once = tuple(replace(kernel, generation=0) for kernel in compiled.artifact.program.kernels)
    compiled.artifact = replace(compiled.artifact, program=replace(compiled.artifact.program, kernels=at_once))
    with pytest.raises(AssertionError, match=r"writes what kernel '.*' of the same generation (reads|writes)"):
        compiled.executable(RecordingExecutable, THREADS[-1]).run(compiled.inputs)
