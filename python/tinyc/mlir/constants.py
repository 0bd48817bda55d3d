"""Constants of scalar types, in code and as attributes."""

from tinyc.mlir import arith, ir


def number(value: bool | int | float, mlir_type: ir.Type) -> ir.Value:
    """Emit a constant of a scalar type; integers are taken modulo their width."""
    if isinstance(mlir_type, ir.IndexType):
        return arith.constant(mlir_type, int(value))
    if isinstance(mlir_type, ir.IntegerType):
        width = mlir_type.width
        wrapped = (int(value) + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) if width > 1 else int(bool(value))
        return arith.constant(mlir_type, ir.IntegerAttr.get(mlir_type, wrapped))
    return arith.constant(mlir_type, ir.FloatAttr.get(mlir_type, float(value)))


def i64(value: int) -> ir.IntegerAttr:
    """The attribute ``value : i64``."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
