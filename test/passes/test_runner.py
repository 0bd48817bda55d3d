"""Passes as dataclasses, and the runner."""

import shlex
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from tinyc import pipeline, text
from tinyc.diagnostics import InternalError, TinycError, collect_remarks
from tinyc.dialects.region.plan import RegionPlan
from tinyc.mlir import ir
from tinyc.passes import Instrument, Pass, Upstream
from tinyc.passes.reproducer import Reproducer, read_reproducer
from tinyc.passes.runner import run_passes

COPY = """
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy"} : () -> ()
"""


@dataclass(frozen=True)
class Configured(Pass):
    """A pass with an option of each type."""

    name: ClassVar[str] = "configured"
    arch: str = field(default="sm80", metadata={"doc": "the architecture"})
    plan_file: str | None = None
    stages: int = 3
    scale: float = 1.0
    fast: bool = False

    def run(self, module):
        module.operation.attributes["x.arch"] = ir.StringAttr.get(self.arch)


@dataclass(frozen=True)
class Needy(Pass):
    """A pass with an option that must be given, which reads a layer."""

    name: ClassVar[str] = "needy"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    size: int

    def run(self, module):
        del module.operation.attributes["x.arch"]


#: It works on functions only.
FAILING = (Upstream("affine-loop-unroll"),)


@pytest.fixture(autouse=True)
def reproducers(monkeypatch, tmp_path):
    """Keep the files that repeat a defect in the test's own folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def module():
    return text.parse('module attributes {x.arch = "none"} {}', "a.mlir")


def test_the_text_of_a_pass_has_the_options_that_differ_from_the_defaults():
    assert Configured().text() == "configured"
    given = Configured(arch="sm90", plan_file="a b", stages=4, scale=0.5, fast=True)
    assert given.text() == 'configured{arch=sm90 plan-file="a b" stages=4 scale=0.5 fast=true}'
    assert repr(given) == given.text()


def test_options_are_read_as_their_types():
    options = {"arch": "sm90", "plan-file": "p", "stages": "4", "scale": "0.5", "fast": "true"}
    assert Configured.from_options(options) == Configured("sm90", "p", 4, 0.5, True)


def test_an_option_without_default_must_be_given():
    with pytest.raises(TinycError, match="pass 'needy' needs option 'size'"):
        Needy.from_options({})


def test_a_pass_edits_in_place():
    edited = module()
    run_passes(edited, [Configured(arch="sm90")])
    assert 'x.arch = "sm90"' in str(edited)


def test_instruments_hear_of_each_pass():
    heard = []

    class Listener(Instrument):
        def before(self, step, module):
            heard.append(("before", step.title))

        def after(self, step, module):
            heard.append(("after", step.title))

        def failed(self, step, module):
            heard.append(("failed", step.title))

    with pytest.raises(InternalError):
        run_passes(module(), [Upstream("cse"), Needy(1), Needy(1)], [Listener()])
    assert heard == [
        ("before", "cse"),
        ("after", "cse"),
        ("before", "Needy"),
        ("after", "Needy"),
        ("before", "Needy"),
        ("failed", "Needy"),
    ]


def test_a_defect_comes_with_a_file_that_repeats_it():
    bare = text.parse("module {}", "a.mlir")
    command = r"pass 'needy' failed: KeyError.*to repeat it: tinyc-opt --run-reproducer \S+\.mlir"
    with pytest.raises(InternalError, match=command) as caught:
        run_passes(bare, [Needy(7)])
    path = Path(caught.value.message.rpartition(" ")[2])
    recorded = read_reproducer(path.read_text(encoding="utf-8"), path.name)
    assert recorded.pipeline == "builtin.module(needy{size=7})"
    assert text.parse(recorded.ir) is not None


def test_a_pass_that_breaks_the_ir_is_one_error_with_one_code():
    class Break(Pass):
        """Give a function a type that its body has not."""

        name: ClassVar[str] = "break"

        def run(self, module):
            module.body.operations[0].attributes["function_type"] = ir.TypeAttr.parse("() -> i32", module.context)

    with pytest.raises(InternalError) as caught:
        run_passes(text.parse("func.func @f() {\n  return\n}"), [Break()])
    assert "the IR that it made does not verify: " in str(caught.value)
    assert str(caught.value).count("[TC") == 1


def test_the_command_that_repeats_a_failure_is_one_for_a_shell(monkeypatch, tmp_path):
    folder = tmp_path / "my files"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    *command, path = shlex.split(Reproducer("builtin.module(cse)", "module {}").save())
    assert command == ["tinyc-opt", "--run-reproducer"]
    assert [str(each) for each in folder.iterdir()] == [path]


def test_a_refusal_is_no_failure_to_repeat():
    mixed = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = arith.negf %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }"""
    refused = text.parse(mixed, "a.mlir")
    with pytest.raises(TinycError) as caught:
        run_passes(refused, pipeline.parse("cse,tiny-to-region").steps)
    assert caught.value.reproducer is None


def test_what_repeats_a_defect_needs_no_file_of_the_users(monkeypatch, tmp_path):
    def fail(_plan, _module):
        raise ZeroDivisionError

    plan = tmp_path / "plan.json"
    plan.write_text('{"scheme": "mma"}')
    steps = pipeline.parse(f"region-plan{{plan={plan}}}").steps
    with monkeypatch.context() as patch:
        patch.setattr(RegionPlan, "run", fail)
        with pytest.raises(InternalError) as caught:
            run_passes(text.parse(COPY), steps)
    plan.unlink()
    path = Path(caught.value.message.rpartition(" ")[2])
    recorded = read_reproducer(path.read_text(encoding="utf-8"), path.name)
    with pytest.raises(TinycError, match="the plan is for scheme 'mma'"):
        pipeline.parse(recorded.pipeline).run(text.parse(recorded.ir))


@pytest.mark.parametrize("between", [(), (Configured("sm90"),)], ids=["passes of MLIR's", "one of tinyc's among them"])
def test_what_repeats_a_failure_is_the_module_right_before_it(between):
    class Keep(Instrument):
        def before(self, step, module):
            self.given = text.located(module)

    twice = """module attributes {x.arch = "none"} {
      func.func @f() -> (i32, i32) {
        %0 = arith.constant 1 : i32
        %1 = arith.constant 1 : i32
        %unused = arith.constant 2 : i32
        return %0, %1 : i32, i32
      }
    }"""
    keep = Keep()
    steps = (Upstream("cse"), *between, Upstream("canonicalize"), *FAILING)
    with pytest.raises(text.IrError, match="unable to schedule pass") as caught:
        run_passes(text.parse(twice, "a.mlir"), steps, [keep])
    assert caught.value.reproducer.ir == keep.given
    assert keep.given.count("arith.constant") == 1
    assert caught.value.reproducer.pipeline == "builtin.module(affine-loop-unroll)"


def test_a_pass_of_mlirs_before_the_one_that_fails_speaks_once(capfd):
    used_after_free = """transform.sequence failures(propagate) {
    ^bb0(%x: !transform.any_op):
      transform.structured.generalize %x : (!transform.any_op) -> !transform.any_op
      transform.apply_cse to %x : !transform.any_op
    }"""
    module = text.parse(used_after_free)
    names = ("transform-dialect-check-uses", "print-op-stats", "transform-dialect-check-uses")
    warnings = []
    handler = module.context.attach_diagnostic_handler(lambda each: warnings.append(each.message) is None)
    with pytest.raises(text.IrError, match="unable to schedule pass"):
        run_passes(module, (*(Upstream(name) for name in names), *FAILING))
    handler.detach()
    assert warnings == ["operand #0 may be used after free"] * 2
    assert "".join(capfd.readouterr()).count("Operations encountered") == 1


def test_a_pass_whose_layer_is_absent_gets_a_remark():
    with collect_remarks() as remarks:
        run_passes(module(), [Needy(1)])
    assert [(each.code, each.evidence) for each in remarks] == [("pass-not-applicable", {"consumes": ["tiny"]})]


def test_a_module_that_breaks_a_contract_is_refused_before_any_pass():
    broken = text.parse("func.func @f() { return }\nfunc.func @g() { return }")
    with broken.context:
        broken.body.operations[0].attributes["sym_name"] = ir.StringAttr.get("g")
    with pytest.raises(text.IrError, match="redefinition"):
        run_passes(broken, [])


def test_a_pass_of_mlirs_that_fails_says_why():
    with pytest.raises(text.IrError, match="unable to schedule pass"):
        run_passes(module(), FAILING)
