"""Host programs as JSON: all of each comes back, and what is not such a program is refused with its place."""

import dataclasses
import json

import pytest

import tinyc
from programs.example_bindings import BIND, EXAMPLES
from tinyc.diagnostics import Where
from tinyc.expr.extents import Dim, parse_extent
from tinyc.runtime.container import MalformedModel
from tinyc.runtime.frozen_json import frozen_from_json, frozen_to_json
from tinyc.runtime.program import Program
from tinyc.vocabulary.element_type import ElementType

UNBOUND = ("gather", "gemm_bias_relu", "softmax", "topk")


def through_text(kind, value):
    return frozen_from_json(kind, json.loads(json.dumps(frozen_to_json(value))), "value")


@pytest.fixture(scope="module")
def data():
    return frozen_to_json(tinyc.compile(EXAMPLES / "topk.json").lowering.program())


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("example", BIND)
def test_the_programs_of_the_examples_come_back(example, target):
    bind = {} if example in UNBOUND else BIND[example]
    source = (EXAMPLES / f"{example}.json").read_text()
    program = tinyc.compile(source, target, bind=bind).lowering.program()
    assert through_text(Program, program) == program


def test_of_a_file_the_name_is_kept():
    places = [Where("n", f"{folder}m.json", 3, 4) for folder in ("/home/me/", "", "there/")]
    assert {through_text(Where, place) for place in places} == {Where("n", "m.json", 3, 4)}


@dataclasses.dataclass(frozen=True)
class One:
    size: Dim


@dataclasses.dataclass(frozen=True)
class Other:
    size: Dim


@dataclasses.dataclass(frozen=True)
class Every:
    """Every type that a field may have, those that no program has yet too."""

    name: str
    is_last: bool
    either: tuple[One | Other, ...]
    pairs: tuple[tuple[str, str], ...]
    grid: tuple[Dim, Dim]
    element: ElementType
    stage: str | None = None
    extent: Dim | None = None
    where: Where = dataclasses.field(default_factory=Where)


def test_a_field_needs_nothing_but_its_type():
    size = parse_extent("2*M*N + (H - 1) floordiv 2")
    full = Every("a", True, (One(3), Other(size)), (("x", "y"),), (size, 0), ElementType.BF16, "run", size, Where("n"))
    plain = Every("a", False, (), (), (1, 2), ElementType.BOOL)
    for value in (full, plain):
        assert through_text(Every, value) == value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.update(streams=1), "program, a Program, has the field 'streams', which is not known"),
        (lambda p: p.pop("symbols"), "program, a Program, lacks the field 'symbols'"),
        (lambda p: p["buffers"][1].pop("where"), r"program.buffers\[1\], a Buffer, lacks the field 'where'"),
        (lambda p: p["buffers"][0].update({"class": "Kernel"}), r"program.buffers\[0\] is no Buffer"),
        (lambda p: p["buffers"][0].update(element="f12"), r"program.buffers\[0\].element is 'f12', no ElementType"),
        (lambda p: p["buffers"][0].update(size="N*M"), r"size is 'N\*M', and that is written M\*N"),
        (lambda p: p["buffers"][0].update(size="import os"), r"size: cannot read the extent 'import os'"),
        (lambda p: p["buffers"][0].update(size=True), r"size is True; it should be of type int or Extent"),
        (lambda p: p["buffers"][0].update(name=None), r"program.buffers\[0\].name is None; it should be of type str"),
        (lambda p: p["kernels"][0].update(grid=[1, 1]), r"program.kernels\[0\].grid has 2 entries; it should have 3"),
        (lambda p: p["kernels"][0].update(generation="0"), r"generation is '0'; it should be of type int"),
        (lambda p: p["kernels"][0].update(generation=True), r"generation is True; it should be of type int"),
        (
            lambda p: p["kernels"][0]["parameters"][0].update({"class": "Eval"}),
            r"of type Pointer, Status, ExtentValue or",
        ),
        (lambda p: p.update(kernels={}), r"program.kernels is \{\}; it should be a list"),
    ],
)
def test_what_is_no_program_is_refused_with_its_place(data, change, message):
    wrong = json.loads(json.dumps(data))
    change(wrong)
    with pytest.raises(MalformedModel, match=message):
        frozen_from_json(Program, wrong, "program")
