"""An ONNX model as a Frontend module."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.files import read_file
from tinyc.importers.onnx.emit import emit_program
from tinyc.importers.onnx.graph import GraphImport
from tinyc.importers.onnx.model_file import parse_model
from tinyc.importers.onnx.patterns.fusion import fuse_patterns
from tinyc.mlir import ir


def import_model(
    source: onnx.ModelProto | bytes | Path,
    bind: Mapping[str, int] | None = None,
    constants: Mapping[str, Any] | None = None,
    filename: str | None = None,
    folder: Path | None = None,
) -> ir.Module:
    """The Frontend module of a model, in tinyc's context.

    `source` is the model, its bytes, or a `Path` to it; `bind` gives symbols of dynamic axes their values; `constants`
    gives inputs of the graph their values, which are no inputs of the program then. `filename` is what errors and
    locations call the model, `folder` is where the files of its tensors lie, by default that of its path.

    Raises:
        TinycError: what is wrong with the model or not supported; `errors` has everything that is.
    """
    if isinstance(source, Path):
        folder = folder or Path(os.path.abspath(source)).parent
        source, filename = read_file(source), filename or str(source)
    model = parse_model(source, filename) if isinstance(source, bytes) else source
    program = GraphImport(model, bind or {}, constants or {}, folder, filename).run()
    fuse_patterns(program)
    return emit_program(program, Where(file=filename))


def unknown_inputs(
    model: onnx.ModelProto, bind: Mapping[str, int] | None = None, constants: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """The inputs whose values the importer asks for beside `constants`; with their values it may ask for more.

    Raises:
        TinycError: what is wrong with the model or not supported, apart from these.
    """
    started = GraphImport(model, bind or {}, constants or {}, None, None)
    try:
        started.run()
    except TinycError as error:
        others = [each for each in error.errors if each.name != "UnboundInput"]
        if others:
            raise TinycError.several(others) from None
    return tuple(started.program.asked)
