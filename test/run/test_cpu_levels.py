"""Random programs and contractions at every level of x86-64: the numbers of the reference, the bits of one thread.

`--random-examples N` runs more than those of CI, new ones each time.
"""

from collections import Counter

import numpy as np
from hypothesis import note

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
    runs_here,
)
from programs.joined_calls import JoinedExecutable
from programs.random_plans import planned_contractions, unless_refused
from programs.strategies import programs
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.dialects.region.kernel import kernels_of
from tinyc.executors import reference
from tinyc.runtime.cpu import CpuExecutable

#: What was done with programs that this machine does not run.
COMPILED = "all were compiled, and not run"
#: What there is among random contractions.
SEEN = ("with a plan of its own", "in tiles", "in panels", "of several turns", "in place")


def bits_of(array):
    """Return which elements are NaN, whose sign and payload LLVM leaves open, and the bits of the others."""
    is_nan = np.not_equal(array, array)
    return is_nan.tobytes(), np.where(is_nan, array.dtype.type(0), array).tobytes()


def bits_with(compiled, threads):
    """Return the outputs with some threads, by name, and their bits, which are the same in a second run.

    A first run shares all turns between threads; later ones know which kernels are over too soon. Kernels of a
    generation come together in the third.
    """
    executable, joined = (compiled.executable(kind, threads) for kind in (CpuExecutable, JoinedExecutable))
    runs = [each.run(compiled.inputs) for each in (executable, executable, joined)]
    bits, *others = ({name: bits_of(array) for name, array in outputs.items()} for outputs in runs)
    assert others == [bits, bits]
    return runs[0], bits


def check_at(cpu, program):
    """Compare a program with the reference, and what several threads give with what one does."""
    check_compiled(cpu, program, CompiledProgram(program, cpu))


def check_compiled(cpu, program, compiled):
    if runs_here(cpu):
        outputs, bits = bits_with(compiled, 1)
        expected = reference.evaluate_module(compiled.module, program.inputs)
        assert_agree(program, outputs, expected, compiled.module)
        for threads in THREADS[1:]:
            assert bits_with(compiled, threads)[1] == bits, (threads, program.document)


@needs_team
@at_every_level
def test_existing_programs_agree_with_the_reference(cpu):
    for name in EXISTING:
        check_at(cpu, existing_program(name))
    require_level(cpu, COMPILED)


@needs_team
@contractions_in_turn
def test_a_contraction_agrees_with_the_reference(name, cpu):
    require_level(cpu)
    check_at(cpu, contraction(name))


@needs_team
@at_every_level
def test_random_programs_agree_with_the_reference(random_examples, cpu):
    @random_examples(programs(), 8)
    def check(program):
        check_at(cpu, program)

    check()
    require_level(cpu, COMPILED)


@needs_team
@at_every_level
def test_random_contractions_agree_with_the_reference(random_examples, cpu):
    seen = Counter()

    @random_examples(planned_contractions(), 20)
    def check(drawn):
        program, plans = drawn
        built = ((plan, unless_refused(lambda plan: CompiledProgram(program, cpu, plan=plan), plan)) for plan in plans)
        plan, compiled = next((plan, compiled) for plan, compiled in built if compiled is not None)
        note(f"plan {plan}")
        check_compiled(cpu, program, compiled)
        kernels = kernels_of(compiled.lowering.module("plan"))
        products = [each.nest for each in kernels.values() if isinstance(each.nest, CpuProduct)]
        seen["with a plan of its own"] += plan is not None
        seen["in tiles"] += any(products)
        seen["in panels"] += any(each.reads_right_in_panels for each in products)
        seen["of several turns"] += any(each.turns != 1 for each in products)
        seen["in place"] += any(each.reads_right_in_place for each in products)

    check()
    print(cpu, dict(seen))
    assert all(seen[kind] for kind in SEEN), seen
    require_level(cpu, COMPILED)
