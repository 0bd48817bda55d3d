"""Random programs over the whole vocabulary: the reference, the Region layer and the CPU agree.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import json

import tinyc
from programs.agreement import assert_agree
from programs.strategies import programs
from tinyc import text
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.tolerance import Tolerance
from tinyc.importers import tiny_json


def asm(module):
    return text.print_ir(module, stock=True)


def test_programs_survive_being_written_and_read(random_examples):
    @random_examples(programs(), 25)
    def check(program):
        module = tiny_json.import_program(program.document, bind=program.bind)
        assert asm(text.parse(asm(module))) == asm(module)
        again = tiny_json.import_program(tiny_json.dump(module))
        expected = reference.evaluate_module(module, program.inputs)
        for name, value in reference.evaluate_module(again, program.inputs).items():
            assert compare(name, value, expected[name], Tolerance()).ok

    check()


def test_weights_change_nothing(random_examples):
    @random_examples(programs(), 15)
    def check(program):
        source = json.dumps(program.document)
        inputs = tinyc.compile(source, target="reference", bind=program.bind).signature.inputs
        weights = {each.name: program.inputs[each.name] for each in inputs if each.type.is_static}
        rest = {name: array for name, array in program.inputs.items() if name not in weights}
        model = tinyc.compile(source, target="cpu", bind=program.bind, weights=weights)
        module = model.lowering.module("tiny")
        expected = reference.evaluate_module(module, program.inputs)
        for _ in range(2):
            assert_agree(program, model.run_named(rest), expected, module)

    check()


def test_cpu_agrees_with_the_reference(random_examples):
    @random_examples(programs(), 50)
    def check(program):
        before = {name: array.tobytes() for name, array in program.inputs.items()}
        model = tinyc.compile(json.dumps(program.document), target="cpu", bind=program.bind)
        module = model.lowering.module("tiny")
        expected = reference.evaluate_module(module, program.inputs)
        assert_agree(
            program, reference.evaluate_module(model.lowering.module("region"), program.inputs), expected, module
        )
        assert_agree(program, model.run(**program.inputs), expected, module)
        for name, array in program.inputs.items():
            assert array.tobytes() == before[name]

    check()
