"""Recurrent layers."""

from tinyc.importers.onnx.node import Handler

HANDLERS: dict[str, Handler] = {}
