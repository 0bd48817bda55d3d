"""Side tables: ops that stand behind a function and say, for reading, what an analysis found of it.

The table of a function is the op of its layer (`index_book.table`, `poly.view`) that names the function and has the
findings in its body. Here is what such tables have in common: how they are found, written, and checked by themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from tinyc.diagnostics import TinycError
from tinyc.mlir import ext, func, ir
from tinyc.mlir.bodies import body_of, end_body
from tinyc.mlir.constants import i64

_Table = TypeVar("_Table", bound=ext.Operation)

#: The class and the attributes of an op.
TableRow = tuple[type[ext.Operation], Mapping[str, ir.Attribute]]


def tables_of(module: ir.Module, kind: type[_Table]) -> list[_Table]:
    """The tables of a module that are ops of a class."""
    return [op for op in module.body.operations if isinstance(op, kind)]


def write_table(function: func.FuncOp, table: TableRow, rows: Iterable[TableRow]) -> None:
    """Create the table of a function behind it; its attributes are those besides `function`."""
    kind, attributes = table
    symbol = ir.FlatSymbolRefAttr.get(function.sym_name.value)
    with ir.InsertionPoint.after(function), function.location:
        optional = [name for name in getattr(kind, "optional_attributes", ()) if name in attributes]
        written = kind(function=symbol, **{name: each for name, each in attributes.items() if name not in optional})
        for name in optional:
            written.attributes[name] = attributes[name]
        with ir.InsertionPoint(written.regions[0].blocks.append()):
            for row, values in rows:
                row(**values)
            end_body()


def check_table(table: ir.OpView, rows: Sequence[type[ir.OpView]]) -> None:
    """Check that a table names a function, and that its body is one block of ops of the classes `rows`.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    if not isinstance(table.attributes["function"], ir.FlatSymbolRefAttr):
        raise TinycError("InvalidAttribute", "needs the name of a function, function = @main")
    if len(table.regions) != 1 or len(table.regions[0].blocks) > 1:
        raise TinycError("InvalidAttribute", "must have one region of one block")
    for each in body_of(table):
        if not isinstance(each, tuple(rows)):
            names = [row.OPERATION_NAME for row in rows]
            raise TinycError(
                "InvalidAttribute", f"may hold {', '.join(names[:-1])} and {names[-1]} only, not {each.operation.name}"
            )


def number_attribute(value: bool | int | float) -> ir.Attribute:
    """A number as an attribute: `true`, `0 : i64` (`ui64` for what only an unsigned one holds), `0.0 : f64`."""
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, float):
        return ir.FloatAttr.get_f64(value)
    if value < 2**63:
        return i64(value)
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), value - 2**64)
