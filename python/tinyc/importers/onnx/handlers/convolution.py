"""Convolutions, and the fold of windows."""

from tinyc.importers.onnx.node import Handler

HANDLERS: dict[str, Handler] = {}
