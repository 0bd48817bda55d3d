"""The IRDL of each dialect stands alone: a context that knows nothing of tinyc reads the layer's IR with it."""

import re
from pathlib import Path

import pytest

from tinyc.dialects import registry
from tinyc.dialects.registry import context
from tinyc.mlir import fresh_context, ir, irdl
from tinyc.opt import main as opt

HERE = Path(__file__).parent
#: Layer → the folder of a dialect whose name upstream has taken.
FOLDER_OF = {"tgpu": "gpu"}


def layers():
    context()  # loads the dialects
    return [layer.name for layer in registry.layers()]


def test_the_build_in_cmake_exports_each_dialect():
    cmake = (HERE.parent.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(r"foreach\(dialect ([\w ]+)\)", cmake)[1].split() == layers()


def examples(layer):
    """Return the round-trip tests of a layer."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((HERE / FOLDER_OF.get(layer, layer)).glob("*.mlir"))]
    return [text for text in texts if "--verify-roundtrip" in text and "--split-input-file" not in text]


def load_irdl(layer, capsys):
    assert opt.main([f"--emit-irdl={layer}"]) == 0
    irdl.load_dialects(ir.Module.parse(capsys.readouterr().out))


def complaint(text):
    """Return the first line of what MLIR has against a module, "" for nothing."""
    try:
        ir.Module.parse(text)
    except ir.MLIRError as error:
        return error.error_diagnostics[0].message.splitlines()[0]
    return ""


@pytest.mark.parametrize("layer", layers())
def test_irdl_alone_reads_the_examples_of_its_layer(layer, capsys):
    assert examples(layer)
    with fresh_context():
        load_irdl(layer, capsys)
        assert {complaint(text) for text in examples(layer)} == {""}
