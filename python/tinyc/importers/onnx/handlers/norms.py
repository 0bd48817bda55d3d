"""Layer, rms, group, instance and batch norms."""

from tinyc.importers.onnx.node import Handler

HANDLERS: dict[str, Handler] = {}
