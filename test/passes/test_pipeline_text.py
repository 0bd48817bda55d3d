"""Pipelines as text."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from tinyc import pipeline, text
from tinyc.diagnostics import TinycError
from tinyc.mlir import ir
from tinyc.passes import Pass, Upstream
from tinyc.passes.pipeline_text import parse_flag


@dataclass(frozen=True)
class Mark(Pass):
    """Put a mark on the module."""

    name: ClassVar[str] = "mark"
    label: str = "x"

    def run(self, module):
        module.operation.attributes["test.mark"] = ir.StringAttr.get(self.label)


KNOWN = (Mark,)

CONSTANTS = """func.func @f() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  return %0, %1 : i32, i32
}"""


def steps(source):
    return pipeline.parse(source, KNOWN).steps


def test_the_outer_module_may_be_left_out():
    assert steps("mark,cse") == steps("builtin.module(mark,cse)") == (Mark(), Upstream("cse"))


def test_nested_passes_are_steps_of_their_own():
    nested = (
        Upstream("cse", ("func.func",)),
        Upstream("mem2reg{region-simplify=true}", ("func.func",)),
    )
    assert steps("func.func(cse,mem2reg)") == nested


def test_a_named_pipeline_of_mlirs_is_its_passes():
    assert len(steps("sparsifier")) > 10


def test_white_space_does_not_matter():
    assert steps(" mark { label=y } ,\n func.func ( cse ) ") == steps("mark{label=y},func.func(cse)")


@pytest.mark.parametrize(
    "value", ["y", "a b", 'say "x"', "it's", 'it\'s "both"', "{brace", "back\\slash", "a,b", "k=v", "", "π\n"]
)
def test_every_option_value_survives_its_text(value):
    written = pipeline.Pipeline((Mark(value),)).text()
    assert steps(written) == (Mark(value),)


@pytest.mark.parametrize(
    "source", ["", "mark,cse", "func.func(cse,canonicalize{max-iterations=3}),mark{label=y}", "sparsifier"]
)
def test_the_text_of_a_pipeline_gives_the_same_text(source):
    written = pipeline.parse(source, KNOWN).text()
    assert pipeline.parse(written, KNOWN).text() == written


def test_passes_of_both_kinds_run_in_order():
    module = text.parse(CONSTANTS)
    pipeline.parse("mark{label=a},func.func(cse),mark{label=b}", KNOWN).run(module)
    assert 'test.mark = "b"' in str(module)
    assert str(module).count("arith.constant") == 1


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("builtin.module(cse", "InvalidPipeline", r"expected ',' or '\)' at column 19"),
        ("cse,,cse", "InvalidPipeline", "expected the name of a pass at column 5"),
        ("cse)", "InvalidPipeline", "expected ',' or the end at column 4"),
        ("mark{label=x", "InvalidPipeline", "expected '}' at column 5"),
        ("a(" * 100_000, "InvalidPipeline", "nested more than 64 deep"),
        ("mrk", "UnknownPass", "'mrk' is neither a pass of tinyc's nor one of MLIR's; did you mean 'mark'"),
        ("mark{labl=x}", "InvalidOption", "pass 'mark' has no option 'labl'; did you mean 'label'"),
        ("mark{label=x label=y}", "InvalidOption", "give 'label' twice"),
        ("mark{=}", "InvalidOption", "do not read as key=value"),
        ("cse{x=1}", "InvalidOption", "MLIR refuses 'cse{x=1}': .*no such option x"),
        ("func.func(mark)", "InvalidPipeline", r"'mark' works on whole modules; take it out of 'func.func\(…\)'"),
        ("convert-gpu-to-nvvm", "InvalidPipeline", "restricted to 'gpu.module'"),
        ("convert-gpu-to-nvvm{index-bitwidth=32}", "InvalidPipeline", "restricted to 'gpu.module'"),
        ("convert-gpu-to-nvvm{index=32}", "InvalidOption", "no such option index"),
        ("gpu.module(convert-gpu-to-nvvm{index-bitwidth=x})", "InvalidOption", "with options `index-bitwidth=x`"),
    ],
)
def test_malformed_pipelines_are_refused(source, name, message):
    with pytest.raises(TinycError, match=message) as caught:
        pipeline.parse(source, KNOWN)
    assert caught.value.name == name


def test_a_flag_nests_a_pass_of_mlirs_in_the_op_that_it_works_on():
    assert parse_flag("convert-gpu-to-nvvm", "", KNOWN)[0].anchors == ("gpu.module",)


def test_the_passes_stand_once_in_walk_order():
    names = [each.name for each in pipeline.PASSES]
    assert len(set(names)) == len(names)
    assert names.index("tiny-to-region") < names.index("region-to-loops")
