"""Bind comes first: a program with sizes bound is the program with the numbers written in it.

Names decide three things on purpose: the axes of a reduction that are given by symbol, and the two lints on labels.
"""

import json

from hypothesis import strategies as st

from importers import documents
from programs.strategies import programs
from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.importers import tiny_json

#: The keys of a node under which extents stand.
EXTENTS = ("shape", "result_shape", "lo", "hi", "pad", "kernel", "stride", "dilation", "step", "k")


def symbols_of(document):
    found = {}
    each_extent(document, lambda dim: found.update(dict.fromkeys(extents.symbols(extents.parse_extent(str(dim))))))
    return list(found)


def each_extent(document, change):
    """Return the document with `change` done to each extent."""

    def changed(value):
        return [changed(each) for each in value] if isinstance(value, list) else change(value)

    nodes = []
    for node in document["uops"]:
        arg = {key: changed(value) if key in EXTENTS else value for key, value in node.get("arg", {}).items()}
        nodes.append({**node, "arg": arg} if "arg" in node else node)
    return {**document, "uops": nodes}


def written(document, sizes):
    """Return the document with numbers in the place of symbols."""

    def number(dim):
        value = extents.substitute(extents.parse_extent(str(dim)), sizes)
        return value if isinstance(value, int) else str(value)

    return each_extent(document, number)


def imported(document, bind=None):
    """Return the program as text, or its errors: each code and node."""
    try:
        return tiny_json.dump(tiny_json.import_program(document, bind))
    except TinycError as error:
        return [(each.name, each.where.node) for each in error.errors]


def by_label(outcome):
    """Whether names have decided: an axis named twice, or labelled axes that a reshape would exchange."""
    return isinstance(outcome, list) and {name for name, _ in outcome} & {"InvalidAxis", "NonScop"}


def test_a_bound_program_is_the_program_with_the_numbers_in_it(random_examples):
    compared = []

    @random_examples(st.tuples(programs(), st.data()), 400)
    def check(drawn):
        drawn_program, data = drawn
        document = drawn_program.document
        names = symbols_of(document)
        if any(isinstance(axis, str) for node in document["uops"] for axis in node.get("arg", {}).get("axes", ())):
            return
        actual = data.draw(st.booleans())
        sizes = {
            name: drawn_program.sizes[name]
            if actual and name in drawn_program.sizes
            else data.draw(st.integers(0, 4), name)
            for name in names
            if data.draw(st.booleans(), f"bind {name}")
        }
        bound = imported(document, sizes)
        if by_label(bound):
            return
        compared.append(bound)
        assert bound == imported(written(document, sizes)), (json.dumps(document), sizes)

    check()
    assert sum(isinstance(each, str) for each in compared) > 100


def test_its_errors_are_those_of_the_program_with_the_numbers_in_it():
    document = documents.program(
        documents.tensor("X", "M", 4),
        documents.node("s", "SHRINK", "X", lo=[2, 0], hi=["M", 4]),
        documents.node("r", "RESHAPE", "X", result_shape=[12]),
    )
    for sizes, found in (({"M": 1}, ["s", "r"]), ({"M": 2}, ["r"]), ({"M": 3}, str)):
        bound = imported(document, sizes)
        assert bound == imported(written(document, sizes))
        assert isinstance(bound, str) if found is str else [where for _, where in bound] == found
