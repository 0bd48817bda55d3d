"""No kernel reads or writes outside of its buffers, at any level of x86-64: each lies against a page without access.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import ctypes
import json
from collections import Counter
from types import SimpleNamespace

import pytest

from programs.agreement import assert_agree
from programs.cpu_levels import (
    CompiledProgram,
    at_every_level,
    contraction,
    contractions_in_turn,
    existing_in_turn,
    existing_program,
    require_level,
)
from programs.guard_pages import PAGE, EndGuardedExecutable, GuardedBuffer, GuardedExecutable, launch_in_a_child
from programs.one_contraction import contractions
from programs.strategies import programs
from tinyc.executors import reference
from tinyc.runtime.cpu_calls import Call, KernelArguments, Pace


def run_guarded(program, cpu):
    """Run a program with each buffer at the start of its pages, and at their end, and compare with the reference.

    Return it as it was compiled.
    """
    compiled = CompiledProgram(program, cpu)
    expected = reference.evaluate_module(compiled.module, program.inputs)
    for kind in (GuardedExecutable, EndGuardedExecutable):
        try:
            outputs = compiled.executable(kind, 1).run(compiled.inputs)
        except AssertionError as error:
            raise AssertionError(f"{error}; {kind.__name__} at {cpu}\n{json.dumps(program.document)}") from None
        assert_agree(program, outputs, expected, compiled.module)
    return compiled


@existing_in_turn
def test_an_existing_program_stays_in_its_buffers(name, cpu):
    require_level(cpu)
    run_guarded(existing_program(name), cpu)


@contractions_in_turn
def test_a_contraction_stays_in_its_buffers(name, cpu):
    require_level(cpu)
    run_guarded(contraction(name), cpu)


@at_every_level
def test_random_programs_stay_in_their_buffers(random_examples, cpu):
    require_level(cpu)
    seen = Counter()

    @random_examples(programs(), 8)
    def check(program):
        buffers = run_guarded(program, cpu).artifact.program.buffers
        seen.update({buffer.kind for buffer in buffers})

    check()
    assert seen["arena"], "nothing lies between kernels"
    assert seen["constant"], "there is no constant"


@at_every_level
def test_random_contractions_stay_in_their_buffers(random_examples, cpu):
    require_level(cpu)
    seen = Counter()

    @random_examples(contractions(), 16)
    def check(program):
        buffers = run_guarded(program, cpu).artifact.program.buffers
        seen.update({buffer.kind for buffer in buffers})

    check()
    assert seen["prepared"], "no weights are packed"


# --- the check finds what it looks for --------------------------------------------------------------------------------


@pytest.fixture
def launch_of():
    """Return a function that makes a launch of one turn of what Python does in the place of a kernel."""

    def made(work):
        kernel = SimpleNamespace(symbol="wrong")
        launch, arguments = SimpleNamespace(kernel=kernel), KernelArguments(0, 0, 0, 0)
        return Call(launch, arguments, work, lambda low, high: work(), 1, Pace(), "", 1)

    return made


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("size", [1, 4, PAGE, PAGE + 12])
def test_a_read_outside_of_a_buffer_is_told_with_its_kernel(launch_of, size, at_end):
    buffer = GuardedBuffer(size, at_end)
    inside = [launch_of(lambda: ctypes.string_at(buffer.address, size))]
    launch_in_a_child(inside)
    beyond = buffer.address + (size if at_end else -1)
    with pytest.raises(AssertionError, match="kernel 'wrong' was ended by SIGSEGV"):
        launch_in_a_child([*inside, launch_of(lambda: ctypes.string_at(beyond, 1))])


def test_a_write_to_what_is_only_read_is_told(launch_of):
    buffer = GuardedBuffer(8, False)
    launch_in_a_child([launch_of(lambda: ctypes.memset(buffer.address, 1, 8))])
    assert list(buffer.bytes) == [1] * 8
    buffer.forbid_writes()
    with pytest.raises(AssertionError, match="or writes to an input"):
        launch_in_a_child([launch_of(lambda: ctypes.memset(buffer.address, 2, 8))])


def test_a_write_beside_a_buffer_is_told(launch_of):
    buffer = GuardedBuffer(8, False)
    assert buffer.is_clean
    launch_in_a_child([launch_of(lambda: ctypes.memset(buffer.address, 1, 9))])
    assert not buffer.is_clean
