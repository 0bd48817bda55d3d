"""An ONNX model as a Frontend module."""

import os
from collections.abc import Mapping
from pathlib import Path

import onnx

from tinyc.diagnostics import Where
from tinyc.importers.files import read_file
from tinyc.importers.onnx.emit import emit_program
from tinyc.importers.onnx.graph import GraphImport
from tinyc.importers.onnx.model_file import parse_model
from tinyc.mlir import ir


def import_model(
    source: onnx.ModelProto | bytes | Path, bind: Mapping[str, int] | None = None, filename: str | None = None
) -> ir.Module:
    """The Frontend module of a model, in tinyc's context.

    `source` is the model, its bytes, or a `Path` to it; `bind` gives symbols of dynamic axes their values; `filename` is
    what errors and locations call it. Files beside the model are looked for where `filename` lies.

    Raises:
        TinycError: what is wrong with the model or not supported; `errors` has everything that is.
    """
    if isinstance(source, Path):
        source, filename = read_file(source), str(source)
    model = parse_model(source, filename) if isinstance(source, bytes) else source
    folder = Path(os.path.abspath(filename)).parent if filename else None
    program = GraphImport(model, bind or {}, folder, filename).run()
    return emit_program(program, Where(file=filename))
