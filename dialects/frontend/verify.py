"""What holds in the Frontend layer as a whole, beyond what each op's verifier sees.

A Frontend function is one block of Frontend ops, tensor constants and relations between extents; its arguments and
results carry distinct names, as those of a Tiny function do.
"""

from collections.abc import Iterator

from tinyc.analysis.graphs import functions_of
from tinyc.dialects.frontend.ops import Frontend
from tinyc.dialects.tiny.ops import Tiny
from tinyc.mlir import func, ir
from tinyc.mlir.verifying import Violation, report_violations


def verify(module: ir.Module) -> bool:
    """Check every function of the layer; report each violation at its location and return whether there was none."""
    return report_violations(_violations(module))


def _violations(module: ir.Module) -> Iterator[Violation]:
    """Yield each violation in `module`."""
    for function in functions_of(module):
        ops = [op for block in function.regions[0].blocks for op in block.operations]
        if not any(isinstance(op, Frontend.Operation) for op in ops):
            continue
        if len(function.regions[0].blocks) != 1:
            name = function.name.value
            yield function.location, f"function @{name} must be a single block: the Frontend has no control flow"
        for op in ops:
            if not isinstance(op, Frontend.Operation | Tiny.Operation | func.ReturnOp):
                message = (
                    f"'{op.operation.name}' cannot stand beside Frontend ops; lower them by --frontend-to-tiny first"
                )
                yield op.location, message
