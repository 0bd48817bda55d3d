"""Small ONNX models as text, and what their import gives: what the tests of the importer share."""

import re

import numpy as np
import onnx
import onnx.parser
import onnxruntime

import tinyc
from tinyc.diagnostics import TinycError
from tinyc.importers.onnx.model import import_model


def model_of(body, inputs="float[2, 3] x", outputs="float[?, ?] y", opset=21, more="", functions=""):
    """A model: its graph in ONNX's textual form."""
    header = f'<ir_version: 10, opset_import: ["" : {opset}, "own" : 1]>'
    return onnx.parser.parse_model(f"{header} g ({inputs}) => ({outputs}) {more} {{ {body} }} {functions}")


def run_model(model, inputs, **options):
    """The outputs of a model on the CPU, as a list."""
    return list(tinyc.compile(model, **options).run_named(inputs).values())


def errors_of(model, **options):
    """The errors of an import, as (code, node, message)."""
    try:
        import_model(model, **options)
    except TinycError as error:
        return [(each.name, each.where.node, each.message) for each in error.errors]
    return []


def numbers(*shape, seed=0):
    """Random f32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def frontend_ops(model):
    """The ops of the Frontend layer that a model is imported as, each with its selector: `elementwise gelu`."""
    found = []
    for line in str(import_model(model)).splitlines():
        if match := re.search(r'"frontend\.(\w+)"', line):
            choice = re.search(r'\b(?:fn|kind) = "(\w+)"', line)
            found.append(f"{match[1]} {choice[1]}" if choice else match[1])
    return found


def assert_as_onnxruntime(model, inputs, rtol=1e-4, atol=1e-5, **options):
    """Compare what a model computes on the CPU with ONNX Runtime."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for one, other in zip(run_model(model, inputs, **options), session.run(None, inputs), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), rtol=rtol, atol=atol)
