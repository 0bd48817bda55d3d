"""What MLIR says about IR: its diagnostics as frozen data, and the error that carries them."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from tinyc.diagnostics import TinycError, Where
from tinyc.mlir import ir
from tinyc.mlir.locations import where


@dataclass(frozen=True)
class Diagnostic:
    """One message of MLIR's: `severity` is "error", "warning", "remark" or "note"."""

    severity: str
    where: Where
    message: str
    notes: "tuple[Diagnostic, ...]" = ()

    @classmethod
    def of(cls, diagnostic: ir.Diagnostic) -> "Diagnostic":
        """The frozen form of a diagnostic of the bindings, which lives only while it is handled."""
        return cls(
            diagnostic.severity.name.lower(),
            where(diagnostic.location),
            diagnostic.message,
            tuple(cls.of(note) for note in diagnostic.notes),
        )


class IrError(TinycError):
    """IR that MLIR or a verifier refuses; `diagnostics` are the messages with their notes."""

    def __init__(self, name: str, message: str, where: Where | None = None) -> None:
        super().__init__(name, message, where)
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic("error", self.where, message),)

    @classmethod
    def of(cls, diagnostics: list[Diagnostic], summary: str) -> "IrError":
        """The error that stands for `diagnostics`, `InvalidIr` but where a verifier's report shows another code.

        `summary` speaks where MLIR said nothing.
        """
        found = diagnostics or [Diagnostic("error", Where(), summary)]
        errors = [TinycError.of_report(each.message, "InvalidIr", each.where) for each in found]
        error = cls(errors[0].name, errors[0].message, errors[0].where)
        error.diagnostics, error.errors = tuple(found), tuple(errors)
        return error


@contextlib.contextmanager
def capture_errors(mlir_context: ir.Context) -> Iterator[list[Diagnostic]]:
    """Collect the errors that MLIR reports inside the `with` block; warnings and remarks go on to outer handlers."""
    errors: list[Diagnostic] = []

    def handle(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity != ir.DiagnosticSeverity.ERROR:
            return False
        errors.append(Diagnostic.of(diagnostic))
        return True

    # Without this the bindings swallow errors into their exception, without the order and the notes.
    before = mlir_context.emit_error_diagnostics
    mlir_context.emit_error_diagnostics = True
    handler = mlir_context.attach_diagnostic_handler(handle)
    try:
        yield errors
    finally:
        handler.detach()
        mlir_context.emit_error_diagnostics = before


def verify_op(op: ir.Operation | ir.OpView) -> None:
    """Run MLIR's verifier on `op`.

    Raises:
        IrError: it reports errors.
    """
    with capture_errors(op.context) as errors:
        try:
            op.operation.verify()
        except ir.MLIRError:
            raise IrError.of(errors, "the IR does not verify") from None
