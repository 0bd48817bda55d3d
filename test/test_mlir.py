"""One probe for each fact about the MLIR bindings that tinyc relies on: what a new version of them must pass first."""

import ctypes
import subprocess
import sys
from typing import Any

import pytest

from tinyc.dialects.registry import context
from tinyc.mlir import PROVIDER, ext, fresh_context, ir, llvm, passmanager
from tinyc.mlir.pass_help import upstream_passes
from tinyc.passes.pipeline_text import is_upstream


class NoEffects(ir.MemoryEffectsOpInterface):
    """No effects on memory."""

    @staticmethod
    def get_effects(op: Any, effects: Any) -> None:
        pass


class Probe(ext.Dialect, name="probe"):
    """A dialect with one op for each fact."""


class DimsAttribute(Probe.Attribute, name="dims"):
    extents: ir.ArrayAttr


class BoxType(Probe.Type, name="box"):
    held: Any


class PureOp(Probe.Operation, name="pure", traits=[NoEffects]):
    axes: Any
    operand: ext.Operand[Any]
    out: ext.Result[Any]


class VariadicOp(Probe.Operation, name="variadic"):
    first: ext.Operand[Any]
    rest: ext.Operand[Any] | None


class CheckedOp(Probe.Operation, name="checked"):
    value: ir.IntegerAttr

    def verify_invariants(self) -> bool:
        if self.operation.attributes["value"].value < 0:
            self.location.emit_error("value is negative")
            return False
        return True


class CarelessOp(Probe.Operation, name="careless"):
    value: ir.IntegerAttr

    def verify_invariants(self) -> bool:
        return self.operation.attributes["value"].value >= 0


class HolderOp(Probe.Operation, name="holder", traits=[ir.NoTerminatorTrait]):
    body: ext.Region


class EndOp(Probe.Operation, name="end", traits=[ir.IsTerminatorTrait]):
    pass


@pytest.fixture
def probe():
    """Yield a context with the dialect loaded."""
    with fresh_context() as created:
        Probe.load(reload=True)
        yield created


def handled(probe, action):
    """Return what `action` raised, and the diagnostics that were reported on the way."""
    found = []

    def handle(diagnostic):
        notes = [note.message for note in diagnostic.notes]
        found.append((diagnostic.severity.name, str(diagnostic.location), diagnostic.message, notes))
        return True

    probe.emit_error_diagnostics = True
    handler = probe.attach_diagnostic_handler(handle)
    try:
        action()
    except ir.MLIRError as error:
        return error, found
    finally:
        handler.detach()
    return None, found


# The provider.


def test_the_wheels_own_machinery_is_not_started():
    code = (
        "import sys, tinyc.mlir as m; m.builtin, m.memref, m.arith, m.linalg\n"
        "print('numba_cuda_mlir.numba_cuda' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.skipif(not PROVIDER.startswith("numba"), reason="about the pinned wheel")
def test_the_wheel_itself_can_still_be_used_on_the_same_bindings():
    code = (
        "from tinyc.mlir import ir; import numba_cuda_mlir as n; n.carray\n"
        "from numba_cuda_mlir._mlir import ir as theirs; assert ir is theirs and type(n).__name__ == 'module'"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_llvm_of_the_bindings_and_of_llvmlite_live_in_one_process():
    code = (
        "import tinyc.mlir as m, llvmlite.binding as b; b.initialize_native_target()\n"
        "from tinyc.dialects.registry import context\n"
        "with context(): m.ir.Module.parse('module {}')\n"
        "b.parse_assembly('define void @f() { ret void }').verify()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_that_does_not_exist_is_an_attribute_error():
    import tinyc.mlir

    with pytest.raises(AttributeError, match="no module 'no_such_dialect'"):
        _ = tinyc.mlir.no_such_dialect


def test_there_is_one_context_and_threads_are_off():
    assert context() is context()
    # With threads on, Python verifiers deadlock as soon as there are two functions.
    with context():
        functions = "".join(
            f'func.func @f{i}() {{ "tiny.assume"() {{lhs = "M", predicate = "le", rhs = "{i}"}} : () -> () return }}\n'
            for i in range(1, 9)
        )
        assert ir.Module.parse(functions).operation.verify()


def test_the_library_lists_mlirs_passes_with_what_they_do():
    listed = upstream_passes()
    assert len(listed) > 250
    assert listed["cse"].summary
    assert [name for name, each in listed.items() if not each.summary] == []
    assert "max-iterations=…" in dict(listed["canonicalize"].options)
    assert [name for name in listed if not is_upstream(name)] == []


# Dialects in Python.


def test_a_dialect_is_loaded_once_for_each_context(probe):
    with fresh_context() as second:
        with pytest.raises(RuntimeError, match="reload=True"):
            Probe.load()
        Probe.load(reload=True)
        assert second.is_registered_operation("probe.pure")
    assert probe.is_registered_operation("probe.pure")


def test_ops_print_in_generic_form_with_all_attributes_in_the_dictionary(probe):
    source = '"probe.checked"() {other = 1 : i64, value = 3 : i64} : () -> ()'
    assert source in str(ir.Module.parse(source))


def test_dynamic_ops_have_no_properties(probe):
    op = ir.Operation.parse('"probe.checked"() {value = 3 : i64} : () -> ()')
    assert list(op.attributes) == ["value"]
    error, found = handled(probe, lambda: ir.Operation.parse('"probe.checked"() <{value = 3 : i64}> : () -> ()'))
    assert error is not None
    assert found


def test_optional_operands_have_segment_sizes_as_an_attribute(probe):
    with ir.Location.unknown():
        module = ir.Module.parse('%0 = "probe.pure"(%0) {axes = []} : (i32) -> i32')
        value = module.body.operations[0].results[0]
        with ir.InsertionPoint(module.body):
            op = VariadicOp(value, None)
    assert str(op.operation.attributes["operandSegmentSizes"]) == "array<i32: 1, 0>"
    assert op.rest is None


@pytest.mark.parametrize("axes", ["[]", "array<i64>", "false", "{}"])
def test_the_builder_keeps_attributes_that_python_finds_false(probe, axes):
    module = ir.Module.parse('%0 = "probe.pure"(%0) {axes = [1]} : (i32) -> i32')
    value = module.body.operations[0].results[0]
    with ir.Location.unknown(), ir.InsertionPoint(module.body):
        op = PureOp(ir.Attribute.parse(axes), value, value.type)
    assert str(op.operation.attributes["axes"]) == axes


@pytest.mark.parametrize(
    ("given", "named", "wrong"),
    [
        (1, {}, "missing a required argument"),
        (4, {}, "too many positional arguments"),
        (3, {"axes": None}, "multiple values for argument 'axes'"),
        (3, {"axis": None}, "unexpected keyword argument 'axis'"),
    ],
)
def test_the_builder_says_what_is_wrong_with_its_arguments(probe, given, named, wrong):
    module = ir.Module.parse('%0 = "probe.pure"(%0) {axes = [1]} : (i32) -> i32')
    value = module.body.operations[0].results[0]
    arguments = (ir.ArrayAttr.get([]), value, value.type, value)[:given]
    with ir.Location.unknown(), ir.InsertionPoint(module.body), pytest.raises(TypeError, match=wrong):
        PureOp(*arguments, **named)


def test_a_dialect_attribute_is_a_tensor_encoding(probe):
    source = 'tensor<?x?x1xf16, #probe.dims<["M", "K", 1]>>'
    parsed, again = ir.Type.parse(source), ir.Type.parse(source)
    assert parsed == again
    assert str(parsed) == 'tensor<?x?x1xf16, #probe.dims<["M", "K", 1]>>'
    assert parsed != ir.Type.parse('tensor<?x?x1xf16, #probe.dims<["M", "N", 1]>>')
    assert [str(each) for each in ir.ArrayAttr(parsed.encoding.extents)] == ['"M"', '"K"', "1 : i64"]


def test_a_parameter_of_a_dialect_type_comes_back_as_a_raw_attribute(probe):
    box = ir.Type.parse("!probe.box<tensor<4xf32>>")
    assert ir.TypeAttr(box.held).value == ir.Type.parse("tensor<4xf32>")
    assert BoxType.get(ir.Type.parse("tensor<4xf32>")) == box


def test_the_irdl_of_a_dialect_loads_in_another_context(probe):
    irdl = str(Probe._mlir_module)
    with fresh_context() as alone:
        from tinyc.mlir import irdl as irdl_dialect

        irdl_dialect.load_dialects(ir.Module.parse(irdl))
        assert alone.is_registered_operation("probe.pure")
        assert ir.Module.parse('"probe.checked"() {value = -3 : i64} : () -> ()')


# Traits and interfaces.


def test_no_effects_make_cse_and_dce_work(probe):
    module = ir.Module.parse("""
        func.func @f(%x: i32) -> (i32, i32) {
          %0 = "probe.pure"(%x) {axes = [1]} : (i32) -> i32
          %1 = "probe.pure"(%x) {axes = [1]} : (i32) -> i32
          %2 = "probe.pure"(%x) {axes = [2]} : (i32) -> i32
          return %0, %1 : i32, i32
        }""")
    passmanager.PassManager.parse("builtin.module(func.func(cse))").run(module.operation)
    assert str(module).count("probe.pure") == 1


def test_an_op_without_the_interface_is_left_alone(probe):
    module = ir.Module.parse('"probe.checked"() {value = 1 : i64} : () -> ()')
    passmanager.PassManager.parse("builtin.module(cse,canonicalize)").run(module.operation)
    assert "probe.checked" in str(module)


def test_a_terminator_ends_its_block(probe):
    assert ir.Module.parse('"probe.holder"() ({ "probe.end"() : () -> () }) : () -> ()')
    error, found = handled(probe, lambda: ir.Module.parse('"probe.end"() : () -> ()\n"probe.end"() : () -> ()'))
    assert error is not None
    assert "must be the last operation in the parent block" in found[0][2]


# Verifiers and diagnostics.


def test_a_verifier_reports_at_the_position_in_the_text(probe):
    source = '\n  "probe.checked"() {value = -3 : i64} : () -> ()'
    error, found = handled(probe, lambda: ir.Operation.parse(source, source_name="a.mlir"))
    assert error is not None
    assert [each[:3] for each in found] == [("ERROR", 'loc("a.mlir":2:3)', "value is negative")]


def test_a_python_verifier_runs_before_the_declared_fields_are_checked(probe):
    # So a verifier must check them itself: this one raises where IRDL would have reported a missing attribute.
    with pytest.raises(KeyError):
        ir.Module.parse('"probe.careless"() : () -> ()')


def test_errors_go_into_the_exception_or_to_handlers(probe):
    source = "func.func @f() { retrn }"
    probe.emit_error_diagnostics = False
    with pytest.raises(ir.MLIRError) as caught:
        ir.Module.parse(source)
    assert [each.message for each in caught.value.error_diagnostics] == [
        "custom op 'retrn' is unknown (tried 'func.retrn' as well)"
    ]
    error, found = handled(probe, lambda: ir.Module.parse(source))
    assert error is not None
    assert not error.error_diagnostics
    assert len(found) == 1


def test_a_handler_that_declines_leaves_a_diagnostic_to_the_one_before(probe):
    outer = []
    first = probe.attach_diagnostic_handler(lambda diagnostic: outer.append(diagnostic.message) or True)
    second = probe.attach_diagnostic_handler(lambda diagnostic: False)
    ir.Location.unknown().emit_error("hello")
    second.detach()
    first.detach()
    assert outer == ["hello"]


def test_the_parser_makes_notes(probe):
    _, found = handled(probe, lambda: ir.Module.parse("func.func @f() { return }\nfunc.func @f() { return }"))
    assert "see existing symbol definition here" in found[0][3]


def test_only_a_single_top_level_op_can_be_parsed_under_a_file_name(probe):
    _, found = handled(probe, lambda: ir.Operation.parse("module {}\nmodule {}", source_name="a.mlir"))
    assert "source must contain a single top-level operation" in found[0][2]
    assert '"-":1:1' in ir.Module.parse("module {}").operation.get_asm(enable_debug_info=True)


def test_name_locations_print_only_on_demand(probe):
    module = ir.Module.parse('module {} loc("n3"("a":1:2))')
    assert "loc" not in str(module)
    assert 'loc("n3"(' in module.operation.get_asm(enable_debug_info=True)
    assert str(module.operation.location) == 'loc("n3"("a":1:2))'


# Passes.


def test_a_python_callable_is_a_pass_and_its_exceptions_come_out_unchanged(probe):
    module = ir.Module.parse("module {}")
    seen = []
    manager = passmanager.PassManager.parse("builtin.module(cse)")
    manager.add(lambda op, pass_: seen.append(op.operation.name), name="probe")
    manager.add("canonicalize")
    manager.run(module.operation)
    assert seen == ["builtin.module"]


def test_a_pass_signals_failure(probe):
    manager = passmanager.PassManager.parse("builtin.module(cse)")
    manager.add(lambda op, pass_: pass_.signal_pass_failure(), name="probe")
    with pytest.raises(ir.MLIRError):
        manager.run(ir.Module.parse("module {}").operation)


def test_pipelines_nest_and_print_every_option(probe):
    manager = passmanager.PassManager.parse("builtin.module(func.func(cse,canonicalize{max-iterations=3}))")
    assert str(manager).startswith("builtin.module(func.func(cse,canonicalize{")
    assert "max-iterations=3" in str(manager)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("builtin.module(nope)", "'nope' does not refer to a registered pass"),
        ("builtin.module(cse{x=1})", "no such option x"),
        ("builtin.module(llvm-request-c-wrappers)", "restricted to 'func.func' on a PassManager"),
        ("cse", "to be wrapped with the anchor operation type"),
    ],
)
def test_a_pipeline_that_cannot_be_is_a_value_error(probe, source, message):
    with pytest.raises(ValueError, match=message):
        passmanager.PassManager.parse(source)


def test_a_module_is_cloned_and_ops_move_between_modules(probe):
    source, target = ir.Module.parse("func.func @f() { return }"), ir.Module.parse("module {}")
    copy = source.operation.clone()
    for op in list(source.body.operations):
        target.body.append(op)
    assert "@f" in str(target)
    assert "@f" not in str(source)
    assert "@f" in str(copy)


def test_a_walk_advances(probe):
    names = []

    def visit(op):
        names.append(op.operation.name)
        return ir.WalkResult.ADVANCE

    ir.Module.parse("func.func @f() { return }").operation.walk(visit)
    assert sorted(names) == ["builtin.module", "func.func", "func.return"]


# Code generation.


def test_llvm_ir_comes_out_as_text(probe):
    module = ir.Module.parse("llvm.func @f(%x: i32) -> i32 { llvm.return %x : i32 }")
    assert "define i32 @f(i32 %0)" in llvm.translate_module_to_llvmir(module.operation)


def test_llvmlite_reads_and_runs_what_the_bindings_print(probe):
    import llvmlite.binding as binding

    module = ir.Module.parse("""
        func.func @twice(%x: i32) -> i32 {
          %0 = arith.addi %x, %x : i32
          return %0 : i32
        }""")
    passmanager.PassManager.parse("builtin.module(convert-to-llvm)").run(module.operation)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    parsed = binding.parse_assembly(llvm.translate_module_to_llvmir(module.operation))
    machine = binding.Target.from_default_triple().create_target_machine()
    with binding.create_mcjit_compiler(parsed, machine) as engine:
        engine.finalize_object()
        twice = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(engine.get_function_address("twice"))
        assert twice(21) == 42
