"""Where a program comes from: a file, Tiny JSON, textual IR, or a module; always a module of its own comes out.

In: whatever `tinyc.compile` takes as `source`, and the values of symbols. Out: an `ir.Module` at any layer, verified,
that nothing else refers to.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc import text
from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.registry import context
from tinyc.dialects.tiny.inline import TinyInline, is_of_several
from tinyc.driver.binding import bind_symbols, require_sizes
from tinyc.driver.code_text import read_code
from tinyc.driver.layer import SHARED_LAYERS, check_program, layer_of
from tinyc.driver.program_text import ProgramText, in_file, is_path, program_text
from tinyc.driver.request import Bind, Constants, checked_bind, checked_constants
from tinyc.importers import tiny_json
from tinyc.importers.json_text import EXAMPLE, first_character
from tinyc.mlir import ir
from tinyc.passes.runner import copy_module, run_passes, verify_layers
from tinyc.runtime.container import is_container

#: The first byte of an ONNX model, which no text begins with: the key of its `ir_version`.
_ONNX_BEGINS = b"\x08"
#: Namespaces of the ops that say of a Tiny program what analyses have found.
_SIDE_TABLES = {"index_book", "poly"}


def read_program(source: object, bind: Bind | None = None, constants: Constants | None = None) -> ir.Module:
    """The program that `source` means, a module at one layer; of the Tiny layer it has one function.

    Raises:
        TinycError: as `read_module`, or the module is no program; it names the file.
    """
    name = source.name if isinstance(source, ProgramText) else str(source) if is_path(source) else None
    with in_file(name):
        module = read_module(source, bind, constants)
        if check_program(module) == "tiny" and is_of_several(module):
            run_passes(module, (TinyInline(),))
        if not exec_functions(module):
            main_function(module)
    return module


def read_module(source: object, bind: Bind | None = None, constants: Constants | None = None) -> ir.Module:
    """The module that `source` means: a path, Tiny JSON (text or dict), IR text, an ONNX model, or an `ir.Module`.

    A JSON object is Tiny JSON, bytes that begin as ONNX models do are one, any other text is that of a layer.
    `constants` fixes inputs of an ONNX model.

    Raises:
        TinycError: the file cannot be read, the program is malformed, or `bind` or `constants` does not fit it.
    """
    bind, constants = checked_bind(bind), checked_constants(constants)
    written = program_text(source)
    if written is not None:
        return _from_written(written, bind, constants)
    if isinstance(source, Mapping):
        return _from_json(source, bind, None)
    if isinstance(source, ir.Module):
        return _from_ir(_own(source), bind)
    if type(source).__module__.startswith("onnx"):  # a ModelProto
        return _from_onnx(source, bind, constants, None, None)
    _require_no_constants(constants, None)
    raise TinycError(
        "UnreadableFile",
        f"a {type(source).__name__} is not a program; give a path, Tiny JSON as text or dict, IR text, an ONNX model, "
        "or an ir.Module",
    )


def _from_written(written: ProgramText, bind: dict[str, int], constants: dict[str, Any]) -> ir.Module:
    """The module of a program that is a file, a text or bytes."""
    source, name = written.text, written.name
    if written.folder is None and not source.strip():
        raise TinycError("InvalidJson", f"the source is empty; {EXAMPLE}", Where(file=name))
    if isinstance(source, bytes) and _is_onnx(source[:1], name or ""):
        return _from_onnx(source, bind, constants, name, written.folder)
    _require_no_constants(constants, name)
    return _from_text(source, bind, name)


def _require_no_constants(constants: dict[str, Any], name: str | None) -> None:
    if constants:
        message = "'constants' fixes inputs of ONNX models, and the program is none; write constants in it"
        raise TinycError("InvalidOption", message, Where(file=name))


def _is_onnx(begins: bytes, filename: str) -> bool:
    return begins == _ONNX_BEGINS or filename.endswith(".onnx")


def is_onnx_file(path: Path) -> bool:
    """Whether `read_module` takes a file for an ONNX model; one that cannot be read is none."""
    try:
        with path.open("rb") as file:
            return path.is_file() and _is_onnx(file.read(1), path.name)
    except (OSError, ValueError):
        return False


def _own(module: ir.Module) -> ir.Module:
    """A copy in tinyc's context."""
    if module.context is context():
        return copy_module(module)
    return text.parse(text.located(module, verified=False))


def _from_text(source: str | bytes, bind: dict[str, int], filename: str | None) -> ir.Module:
    if isinstance(source, bytes) and is_container(source):
        message = "this is a compiled model; run it by tinyc run, load it by tinyc.load, or give its program"
        raise TinycError("UnreadableFile", message, Where(file=filename))
    shown = source if isinstance(source, str) else source.decode("utf-8", errors="replace")
    is_json = filename.endswith(".json") if filename and filename.endswith((".json", ".mlir")) else None
    code = None if is_json else read_code(shown, filename)
    if code is not None:
        return _from_ir(code, bind)
    if is_json or (is_json is None and first_character(shown) in ("{", "[", "", "/")):  # "/": an open comment
        return _from_json(source, bind, filename)
    return _from_ir(text.parse(source, filename or "-"), bind)


def _from_onnx(
    source: Any, bind: dict[str, int], constants: dict[str, Any], filename: str | None, folder: Path | None
) -> ir.Module:
    try:
        from tinyc.importers.onnx.model import import_model  # the package onnx is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("onnx", "google"):
            raise
        message = f"ONNX models are read by the package onnx, and there is no module {error.name}; "
        message += "tools/setup onnx, or pip install onnx"
        raise TinycError("UnreadableFile", message, Where(file=filename)) from None
    return import_model(source, bind, constants, filename, folder)


def _from_json(source: str | bytes | Mapping[str, object], bind: dict[str, int], filename: str | None) -> ir.Module:
    return tiny_json.import_program(source, bind=bind, filename=filename)


def _from_ir(module: ir.Module, bind: dict[str, int]) -> ir.Module:
    verify_layers(module)
    for op in [op for op in module.body.operations if op.operation.name.partition(".")[0] in _SIDE_TABLES]:
        op.erase()
    if bind:
        with module.context, ir.Location.unknown():
            if layer_of(module) in SHARED_LAYERS:
                bind_symbols(module, bind)
            else:
                require_sizes(module, bind)
        verify_layers(module)
    return module
