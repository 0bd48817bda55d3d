"""Where a program comes from: a file, Tiny JSON, textual IR, or a module; always a module of its own comes out.

In: whatever `tinyc.compile` takes as `source`, and the values of symbols. Out: an `ir.Module` at any layer, verified,
that nothing else refers to.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from tinyc import text
from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.region.size_sets import SizeSet, size_set
from tinyc.dialects.registry import context
from tinyc.dialects.tiny.inline import TinyInline, is_of_several
from tinyc.driver.binding import bind_symbols, require_sizes
from tinyc.driver.code_text import read_code
from tinyc.driver.layer import SHARED_LAYERS, check_program, layer_of
from tinyc.expr.extents import natural
from tinyc.importers import tiny_json
from tinyc.importers.files import read_file, unreadable_file
from tinyc.importers.json_text import EXAMPLE, first_character
from tinyc.mlir import ir
from tinyc.passes.runner import copy_module, run_passes, verify_layers
from tinyc.runtime.container import is_container

Bind = Mapping[str, int]
#: Values of inputs that are fixed, by name.
Constants = Mapping[str, Any]
_STANDARD_INPUT = "<stdin>"
#: The first byte of an ONNX model, which no text begins with: the key of its `ir_version`.
_ONNX_BEGINS = b"\x08"
#: Namespaces of the ops that say of a Tiny program what analyses have found.
_SIDE_TABLES = {"index_book", "poly"}


def read_program(
    source: object, bind: Bind | None = None, filename: str | None = None, constants: Constants | None = None
) -> ir.Module:
    """The program that `source` means, a module at one layer; of the Tiny layer it has one function.

    Raises:
        TinycError: as `read_module`, or the module is no program; it names the file.
    """
    with in_file(str(source) if is_path(source) else filename):
        module = read_module(source, bind, filename, constants)
        if check_program(module) == "tiny" and is_of_several(module):
            run_passes(module, (TinyInline(),))
        if not exec_functions(module):
            main_function(module)
    return module


@contextlib.contextmanager
def in_file(file: str | None) -> Iterator[None]:
    """Let an error that is raised inside, and knows no file, be one of `file`."""
    try:
        yield
    except TinycError as error:
        for each in (error, *error.errors):
            each.where = each.where.completed(Where(file=file))
        raise


def shown_argument(argument: str) -> str:
    """The name of the program that a command line names, for people."""
    return _STANDARD_INPUT if argument == "-" else argument


def program_argument(argument: str, bind: Bind | None = None, constants: Constants | None = None) -> ir.Module:
    """The module of the program that a command line names: a file, or `-`, which is standard input.

    Raises:
        TinycError: as `read_program`, with `<stdin>` for the file.
    """
    if argument != "-":
        return read_program(Path(argument), bind, constants=constants)
    try:
        if sys.stdin is None:  # as Python has it where the process began without one
            raise OSError("it is closed")
        source = sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        raise unreadable_file("read", Path(_STANDARD_INPUT), error) from None
    return read_program(source, bind, _STANDARD_INPUT, constants)


def read_module(
    source: object, bind: Bind | None = None, filename: str | None = None, constants: Constants | None = None
) -> ir.Module:
    """The module that `source` means: a path, Tiny JSON (text or dict), IR text, an ONNX model, or an `ir.Module`.

    A JSON object is Tiny JSON, bytes that begin as ONNX models do are one, any other text is that of a layer.
    `filename` is what errors and locations call a text. `constants` fixes inputs of an ONNX model.

    Raises:
        TinycError: the file cannot be read, the program is malformed, or `bind` or `constants` does not fit it.
    """
    bind, constants = checked_bind(bind), _checked_constants(constants)
    if isinstance(source, Mapping):
        return _from_json(source, bind, None)
    if isinstance(source, ir.Module):
        return _from_ir(_own(source), bind)
    if isinstance(source, str | bytes) and not source.strip():
        raise TinycError("InvalidJson", f"the source is empty; {EXAMPLE}", Where(file=filename))
    folder = None
    if is_path(source):
        path = Path(source)
        source, filename, folder = read_file(path), str(source), Path(os.path.abspath(path)).parent
    if type(source).__module__.startswith("onnx"):  # a ModelProto
        return _from_onnx(source, bind, constants, filename, folder)
    if isinstance(source, bytes) and _is_onnx(source[:1], filename or ""):
        return _from_onnx(source, bind, constants, filename, folder)
    if constants:
        message = "'constants' fixes inputs of ONNX models, and the program is none; write constants in it"
        raise TinycError("InvalidOption", message, Where(file=filename))
    if isinstance(source, str | bytes):
        return _from_text(source, bind, filename)
    raise TinycError(
        "UnreadableFile",
        f"a {type(source).__name__} is not a program; give a path, Tiny JSON as text or dict, IR text, an ONNX model, "
        "or an ir.Module",
    )


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


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether `source` names a file: a text is told from a path by its braces, since every program has some."""
    return isinstance(source, os.PathLike) or (isinstance(source, str) and not {"{", "\n"} & set(source))


def checked_bind(bind: Bind | None) -> dict[str, int]:
    """`bind` as a dictionary of non-negative ints.

    Raises:
        TinycError: `InvalidExtent`.
    """
    if bind is None:
        return {}
    if not isinstance(bind, Mapping):
        raise TinycError(
            "InvalidExtent",
            f"bind is a {type(bind).__name__}; give a mapping from symbols to sizes, such as {{'M': 128}}",
        )
    return {name: _bound_extent(name, value) for name, value in bind.items()}


def _checked_constants(constants: object) -> dict[str, Any]:
    """Values of inputs by name.

    Raises:
        TinycError: `InputMismatch`.
    """
    if constants is None:
        return {}
    if not isinstance(constants, Mapping) or not all(isinstance(name, str) for name in constants):
        message = "'constants' is no mapping from names of inputs to their values; give {'axes': [1]}"
        raise TinycError("InputMismatch", message)
    return dict(constants)


def checked_sizes(sizes: object) -> list[SizeSet]:
    """Sets of sizes as data, without those that are empty.

    Raises:
        TinycError: `InvalidOption`, `InvalidExtent`.
    """
    if not isinstance(sizes, list | tuple) or not all(isinstance(each, Mapping) for each in sizes):
        message = f"'sizes' is {sizes!r}; give a list of sets of sizes, [{{'M': 1}}, {{'M': '<=64', 'N': 128}}]"
        raise TinycError("InvalidOption", message)
    return [found for found in map(size_set, sizes) if found.symbols]


def _bound_extent(name: str, value: Any) -> int:
    extent = natural(value)
    if extent is None:
        raise TinycError("InvalidExtent", f"bind {name} = {value!r}: an extent is an integer in 0 … 2^63 - 1")
    return extent


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
