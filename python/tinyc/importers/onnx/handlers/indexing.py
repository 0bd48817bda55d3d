"""What reads or writes where its data says."""

from tinyc.importers.onnx.node import Handler

HANDLERS: dict[str, Handler] = {}
