"""Attention, rotary embedding."""

from tinyc.importers.onnx.node import Handler

HANDLERS: dict[str, Handler] = {}
