"""Corrupted programs: each is refused with an error of the user's, or runs, and the reference and the CPU agree."""

import tinyc
from programs.corruption import corrupted_documents
from tinyc import TinycError
from tinyc.diagnostics import InternalError
from tinyc.driver.verification import verify_model
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.signature import boundary_of
from tinyc.expr import extents

#: Elements of an input, and of a value, up to which a program is run.
_SMALL = 2**16


def small(model):
    """Whether a program's inputs and all buffers on the way are small."""
    module = model.lowering.module("tiny")
    shapes = [each.type.shape for each in boundary_of(module).signature.inputs]
    shapes += [buffer.shape for buffer in model.lowering.program().buffers]
    sizes = [extents.product(shape) for shape in shapes]
    return all(isinstance(size, int) and size <= _SMALL for size in sizes)


def outcome(document, sizes):
    """Return "refused", "compiled", "agrees" or what is wrong."""
    try:
        known = {name: sizes[name] for name in _symbols(document, sizes)}
        model = tinyc.compile(document, bind=known)
        if not small(model):
            return "compiled"
        inputs = random_inputs(model.lowering.module("tiny"), 0)
        failures = [step.failure for step in verify_model(model, inputs) if step.failure]
    except InternalError as error:
        return f"defect: {error}"
    except TinycError:
        return "refused"
    return "agrees" if not failures else f"differs: {failures[0]}"


def _symbols(document, sizes):
    """Return the symbols of a program that it can be bound to."""
    try:
        inputs = boundary_of(tinyc.compile(document, target="reference").lowering.module("tiny")).signature.inputs
    except TinycError:
        return list(sizes)
    found = {name for each in inputs for extent in each.type.shape for name in extents.symbols(extent)}
    return [name for name in sizes if name in found]


def test_a_corrupted_program_is_refused_or_right(random_examples):
    seen = {}

    @random_examples(corrupted_documents(), count=200)
    def check(corrupted):
        found = outcome(*corrupted)
        seen[found] = seen.get(found, 0) + 1
        assert found in ("refused", "compiled", "agrees"), corrupted[0]

    check()
    assert min(seen.get(each, 0) for each in ("refused", "agrees")) > 10, seen
