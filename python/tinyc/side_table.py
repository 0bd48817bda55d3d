"""Side tables: ops that stand behind a function and say, for reading, what an analysis found of it.

The table of a function is the op of its layer (`index_book.table`, `poly.view`) that names the function and has the
findings in its body. Here is what such tables have in common: how they are found, written, and checked by themselves.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.mlir import body_of, end_body, ir

#: The name and the attributes of an op.
Row = tuple[str, dict[str, Any]]


def tables(module: Any, name: str) -> list[Any]:
    """Return the tables of a module that are ops of this name."""
    return [op for op in module.body.operations if op.operation.name == name]


def write_table(function: Any, name: str, attributes: dict[str, Any], rows: Iterable[Row]) -> None:
    """Create the table of a function behind it; `attributes` are those besides `function`."""
    symbol = ir.FlatSymbolRefAttr.get(function.operation.attributes["sym_name"].value)
    with ir.InsertionPoint.after(function.operation), function.location:
        table = ir.Operation.create(name, attributes={"function": symbol, **attributes}, regions=1)
        with ir.InsertionPoint(table.regions[0].blocks.append()):
            for row, values in rows:
                ir.Operation.create(row, attributes=values)
            end_body()


def check_table(op: Any, rows: Sequence[str]) -> None:
    """Check that a table names a function, and that its body is one block of ops with the names `rows`.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    if not isinstance(op.operation.attributes["function"], ir.FlatSymbolRefAttr):
        raise TinycError("InvalidAttribute", "needs the name of a function, function = @main")
    if len(op.operation.regions) != 1 or len(op.operation.regions[0].blocks) > 1:
        raise TinycError("InvalidAttribute", "must have one region of one block")
    for each in body_of(op):
        if each.operation.name not in rows:
            known = f"{', '.join(rows[:-1])} and {rows[-1]}"
            raise TinycError("InvalidAttribute", f"may hold {known} only, not {each.operation.name}")


def verify_tables(tables: Iterable[Any], differences: Callable[[Any], Iterable[tuple[Any, str]]]) -> bool:
    """Report each (location, message) in which a table differs from what it is about, and whether there was none."""
    legal = True
    for table in tables:
        for location, message in differences(table):
            location.emit_error(message)
            legal = False
    return legal


def number_attribute(value: bool | int | float) -> Any:
    """Return a number as an attribute: `true`, `0 : i64` (`ui64` for what only an unsigned one holds), `0.0 : f64`."""
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, float):
        return ir.FloatAttr.get_f64(value)
    if value < 2**63:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), value - 2**64)
