"""`tinyc-opt`: read MLIR text, run passes, print the result; spelled and behaving as `mlir-opt`.

IR goes to stdout (or `-o`), everything else to stderr; the exit status is 0 if every input went through, and 1
otherwise. No input ends in a traceback. The arguments are read in `arguments`, text in `tinyc.text`; `tinyc.passes`
runs the passes.
"""

import argparse
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from tinyc import pipeline, text
from tinyc.diagnostics import LINES, Remark, TinycError, Where, collect_remarks, printable, suggest
from tinyc.dialects import registry
from tinyc.dialects.registry import context
from tinyc.driver.code_text import read_code
from tinyc.driver.exit_status import exit_status, say_how_to_repeat, standard_output
from tinyc.importers.json_text import first_character
from tinyc.mlir import PROVIDER, ir
from tinyc.opt.arguments import read_opt_command_line, remark_filter
from tinyc.opt.expectations import unmet_expectations
from tinyc.opt.help import package_version
from tinyc.opt.instruments import PassStatistics, PassTiming, PrintIr
from tinyc.passes import Pass
from tinyc.passes.pipeline_text import Pipeline, parse_pipeline
from tinyc.passes.reproducer import Reproducer, read_reproducer
from tinyc.passes.runner import run_passes, verify_contracts
from tinyc.text import Diagnostic, IrError, PrintStyle, guards

_SPLIT_MARKER = "// -----"


def main(argv: Sequence[str] | None = None, known: Sequence[type[Pass]] = pipeline.PASSES) -> int:
    """Run `tinyc-opt` with `argv` (default: the process's) and return its exit status; `known` are tinyc's passes."""
    asked = sys.argv[1:] if argv is None else argv
    return exit_status(lambda: _main(asked, known), debug=not {"--debug", "-debug"}.isdisjoint(asked))


def _main(argv: Sequence[str], known: Sequence[type[Pass]]) -> int:
    arguments = read_opt_command_line(argv, known)
    if arguments.help is not None or arguments.version or arguments.show_dialects or arguments.emit_irdl:
        standard_output().write(_about(arguments))
        standard_output().flush()
        return 0
    if arguments.dump_pass_pipeline:
        count = len(arguments.steps)
        sys.stderr.write(f"Pass Manager with {count} passes:\n{Pipeline(tuple(arguments.steps)).text()}\n")
    if arguments.emit_bytecode and arguments.output == "-" and standard_output().isatty():
        raise TinycError("InvalidOption", "--emit-bytecode: bytecode is nothing for a terminal; give -o FILE")
    raw = _read(arguments.input)
    source = raw if text.is_bytecode(raw) else guards.decode_text(raw, arguments.input)
    if arguments.run_reproducer:
        recorded = read_reproducer(_shown(source), arguments.input)
        source, arguments.verify_each = recorded.ir, recorded.verify_each
        arguments.steps = list(parse_pipeline(recorded.pipeline, arguments.known).steps)
    job = _Job(arguments)
    outcomes = [job.process(piece) for piece in _pieces(source, arguments)]
    if arguments.remarks_json is not None:
        _write(arguments.remarks_json, "".join(f"{remark.to_json()}\n" for remark in job.remarks).encode())
    for asked, instrument in ((arguments.mlir_timing, job.timing), (arguments.mlir_pass_statistics, job.statistics)):
        if asked:
            sys.stderr.write(instrument.report())
    good = all(ok for ok, _ in outcomes)
    if good or arguments.output == "-":
        _write(arguments.output, f"{_SPLIT_MARKER}\n".encode().join(output for _, output in outcomes if output))
    return 0 if good else 1


@dataclass
class _Job:
    """The state that all inputs of a file share."""

    arguments: argparse.Namespace
    timing: PassTiming = field(default_factory=PassTiming)
    statistics: PassStatistics = field(default_factory=PassStatistics)
    remarks: list[Remark] = field(default_factory=list[Remark])

    def process(self, source: str | bytes) -> tuple[bool, bytes]:
        """Take one input through the passes; return whether all went well, and what to write."""
        arguments, shown = self.arguments, _shown(source)
        reported: list[Diagnostic] = []
        failure: TinycError | None = None
        output = b""
        with _settings(arguments), _listen(reported), collect_remarks() as remarks:
            try:
                output = self._transform(source)
            except TinycError as error:
                by_mlir = error.diagnostics if isinstance(error, IrError) else None
                reported += by_mlir or [_diagnostic(each) for each in error.errors]
                failure = error
        wanted = remark_filter(arguments)
        chosen = [each for each in remarks if wanted is None or wanted(each)]
        self.remarks += chosen
        idle = [each for each in remarks if each.code == "pass-not-applicable"]
        warnings = [Diagnostic("warning", each.where, each.message) for each in idle]
        decisions = [
            Diagnostic("remark", each.where, f"{each.message} [{each.code}]") for each in chosen if each not in idle
        ]
        if arguments.verify_diagnostics:
            wrong = unmet_expectations(shown, arguments.input, [*warnings, *reported], decisions)
            _show(wrong, shown, arguments.input)
            return not wrong, output
        _show([*warnings, *(decisions if arguments.remarks or wanted else []), *reported], shown, arguments.input)
        if failure is not None:
            say_how_to_repeat(failure, arguments.debug)
        return not any(each.severity == "error" for each in reported), output

    def _transform(self, source: str | bytes) -> bytes:
        arguments, timing = self.arguments, self.timing
        with timing.phase("Parser"):
            module = _parsed(source, arguments.input)
            verify_contracts(module)
        if arguments.verify_roundtrip:
            _check_roundtrip(module, arguments.input)
        if arguments.mlir_generate_reproducer is not None:
            asm = text.located(module).rstrip() + "\n"
            steps = tuple(step.alone() if isinstance(step, Pass) else step for step in arguments.steps)
            record = Reproducer(Pipeline(steps).text(), asm, arguments.verify_each)
            _write(arguments.mlir_generate_reproducer, record.text().encode())
        instruments = [
            _printer(arguments, sys.stderr),
            timing,
            *([self.statistics] if arguments.mlir_pass_statistics else []),
        ]
        run_passes(module, arguments.steps, instruments, arguments.verify_each)
        with timing.phase("Output"):
            return self._output(module)

    def _output(self, module: ir.Module) -> bytes:
        """What is written of a module that has gone through the passes."""
        arguments = self.arguments
        last = arguments.steps[-1] if arguments.steps else None
        own = last.output(module) if isinstance(last, Pass) else None
        if isinstance(last, Pass) and not last.prints_ir:
            if own is None:
                raise TinycError("InvalidIr", f"--{last.name}, the last pass, has nothing to print; give it kernels")
            if arguments.emit_bytecode:
                raise TinycError("InvalidOption", f"--emit-bytecode: --{last.name}, the last pass, prints no IR")
        if arguments.emit_bytecode:
            return text.bytecode_of(module)
        return (own if own is not None else _asm(module, arguments)).encode()


def _read(name: str) -> bytes:
    try:
        if name != "-":
            return Path(name).read_bytes()
        if sys.stdin is None:
            raise ValueError("the standard input is closed")
        if sys.stdin.isatty():
            sys.stderr.write("(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n")
        return sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TinycError("UnreadableFile", f"cannot read '{name}': {reason}") from None


def _write(name: str, content: bytes) -> None:
    if name == "-":
        standard_output().buffer.write(content)
        standard_output().flush()
        return
    try:
        Path(name).write_bytes(content)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TinycError("UnreadableFile", f"cannot write '{name}': {reason}") from None


def _shown(source: str | bytes) -> str:
    """What of the input there is to show and to look for in: nothing of bytecode."""
    return source if isinstance(source, str) else ""


def _parsed(source: str | bytes, filename: str) -> ir.Module:
    """The module that `source` means.

    Raises:
        TinycError: it is not IR; where it is JSON, PTX or LLVM IR, with a note on what takes it.
    """
    try:
        return text.parse(source, filename)
    except IrError as error:
        hint = _what_takes(_shown(source), filename)
        if hint is not None:
            note = Diagnostic("note", Where(file=filename), hint)
            first, *rest = error.diagnostics
            error.diagnostics = (replace(first, notes=(*first.notes, note)), *rest)
        raise


def _what_takes(shown: str, filename: str) -> str | None:
    """The command for an input that is no IR; None where it is of no kind that tinyc knows."""
    if first_character(shown) in ("{", "[") and "{-#" not in shown:  # which opens the resources of IR
        program = shlex.quote(filename) if filename.endswith(".json") else "program.json"
        return f"the input is JSON; 'tinyc compile {program} --dump=tiny' makes IR of a program, in tinyc-dump/"
    if not _is_code(shown, filename):
        return None
    return (
        f"the input is machine code as text, and tinyc-opt reads MLIR; 'tinyc run {shlex.quote(filename)}' takes PTX "
        "and LLVM IR as tinyc compile --dump writes them, 'tinyc simulate' any PTX"
    )


def _is_code(shown: str, filename: str) -> bool:
    """Whether a text is PTX, LLVM IR or CUDA C++, with the host program or without."""
    try:
        return read_code(shown, filename) is not None
    except TinycError:
        return True


def _pieces(source: str | bytes, arguments: argparse.Namespace) -> Iterable[str | bytes]:
    """What is to be treated as separate inputs: bytecode is in one piece."""
    return _split(source) if arguments.split_input_file and isinstance(source, str) else [source]


def _split(source: str) -> Iterator[str]:
    """Yield the pieces between marker lines, below as many empty lines as make their line numbers right."""
    lines: list[str] = []
    offset = 0
    for number, line in enumerate(source.split("\n"), start=1):
        if line.rstrip() == _SPLIT_MARKER:
            yield "\n" * offset + "\n".join(lines) + "\n"
            lines, offset = [], number
        else:
            lines.append(line)
    yield "\n" * offset + "\n".join(lines)


@contextmanager
def _settings(arguments: argparse.Namespace) -> Iterator[None]:
    """Set the process-wide context up for this input, and put it back."""
    before = context().allow_unregistered_dialects
    context().allow_unregistered_dialects = arguments.allow_unregistered_dialect
    try:
        yield
    finally:
        context().allow_unregistered_dialects = before


@contextmanager
def _listen(reported: list[Diagnostic]) -> Iterator[None]:
    """Collect in `reported` what MLIR says and nobody turned into an exception: warnings and remarks."""

    def handle(diagnostic: ir.Diagnostic) -> bool:
        reported.append(Diagnostic.of(diagnostic))
        return True

    handler = context().attach_diagnostic_handler(handle)
    try:
        yield
    finally:
        handler.detach()


def _check_roundtrip(module: ir.Module, filename: str) -> None:
    """Print `module`, parse it, and compare.

    Raises:
        TinycError: what comes back is another module, or nothing.
    """
    once = text.located(module)
    again = text.located(text.parse(once, filename))
    if once != again:
        raise TinycError("InvalidIr", "the module that is parsed from the printed module differs from it")


def _printer(arguments: argparse.Namespace, stream: TextIO) -> PrintIr:
    return PrintIr(
        stream,
        frozenset(arguments.mlir_print_ir_before),
        frozenset(arguments.mlir_print_ir_after),
        arguments.mlir_print_ir_before_all,
        arguments.mlir_print_ir_after_all,
        arguments.mlir_print_ir_after_change,
        arguments.mlir_print_ir_after_failure,
        _style(arguments),
        arguments.mlir_print_ir_tree_dir,
    )


def _style(arguments: argparse.Namespace) -> PrintStyle:
    """How IR is to be printed, at the end and around passes."""
    return PrintStyle(
        arguments.mlir_print_debuginfo,
        arguments.stock_printing,
        arguments.mlir_print_op_generic,
        arguments.mlir_print_local_scope,
        arguments.mlir_elide_elementsattrs_if_larger,
        arguments.mlir_elide_resource_strings_if_larger,
    )


def _asm(module: ir.Module, arguments: argparse.Namespace) -> str:
    """The text of `module`; the printer verifies it once more unless it is known to be good."""
    return _style(arguments).text_of(module, verified=arguments.verify_each).rstrip() + "\n"


def _diagnostic(error: TinycError) -> Diagnostic:
    node = f"node '{error.where.node}': " if error.where.node is not None else ""
    return Diagnostic("error", error.where, f"{node}{error.message_with_code}")


def _show(diagnostics: Sequence[Diagnostic], source: str, filename: str) -> None:
    """Print `diagnostics` and the lines of `source` that they are about."""
    lines = source.split("\n")
    for diagnostic in diagnostics:
        for each in (diagnostic, *diagnostic.notes):
            sys.stderr.write(_rendered(each, lines if each.where.file == filename else []))


def _rendered(diagnostic: Diagnostic, lines: list[str]) -> str:
    where = diagnostic.where
    place = str(Where(None, where.file, where.line, where.column))
    rendered = f"{place + ': ' if place else ''}{diagnostic.severity}: {printable(diagnostic.message, LINES)}\n"
    if where.line is None or not 1 <= where.line <= len(lines):
        return rendered
    line = lines[where.line - 1].rstrip()
    if len(line) > 1000:
        return rendered
    indent = "".join("\t" if each == "\t" else " " for each in line[: (where.column or 1) - 1])
    return f"{rendered}{line}\n{indent}^\n"


def _about(arguments: argparse.Namespace) -> str:
    """The answer to a question that needs no input."""
    if arguments.help is not None:
        return arguments.help_text
    if arguments.version:
        return _version()
    if arguments.show_dialects:
        return f"Available Dialects: {', '.join(_dialect_names())}\n"
    with context():
        names = [layer.name for layer in registry.layers()]
        if arguments.emit_irdl not in names:
            hint = suggest(arguments.emit_irdl, names)
            raise TinycError("InvalidOption", f"--emit-irdl: tinyc has no dialect '{arguments.emit_irdl}'{hint}")
        return text.print_ir(registry.irdl_of(arguments.emit_irdl), stock=True).rstrip() + "\n"


def _version() -> str:
    package = PROVIDER.partition(".")[0]
    return f"tinyc {package_version('tinyc')} (MLIR bindings: {package} {package_version(package)})\n"


def _dialect_names() -> list[str]:
    """Tinyc's dialects in walk order, then MLIR's."""
    # The bindings cannot list dialects, only ask for one by its name; their modules are called as the dialects are.
    import importlib
    import pkgutil

    package = importlib.import_module(f"{PROVIDER}.dialects")
    names = {name.strip("_").removesuffix("_ops_gen") for _, name, _ in pkgutil.iter_modules(package.__path__)}
    return [*(layer.name for layer in registry.layers()), *sorted(filter(_is_registered, names))]


def _is_registered(name: str) -> bool:
    try:
        context().dialects[name]
    except IndexError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
