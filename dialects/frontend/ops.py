"""The `frontend` dialect: one op for each formula of `tinyc.formulas`, or for each family of them that has a selector.

Ops print in MLIR's generic form, with the attributes that are not at their defaults. Operands stand in the order of the
formula; where several may be left out, `operandSegmentSizes` says which are there. Every op is pure.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

from tinyc.dialects.frontend.attributes import decode_attributes, encode_attributes
from tinyc.dialects.tiny.ops import Pure
from tinyc.formulas.registry import SCHEMAS, SELECTORS, find_schema, result_types
from tinyc.formulas.schema import Schema
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed, report_op
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.types import TensorType

#: MLIR's attribute that says which operands are there, where several may be left out.
_SEGMENTS = "operandSegmentSizes"
#: The type of a field that is an operand which may be left out, as the bindings want it.
_LEFT_OUT = Optional[ext.Operand[Any]]  # noqa: UP045


class Frontend(ext.Dialect, name="frontend"):
    """Layers of networks: products, norms, activations, movements; operands broadcast."""


class FrontendOp(Frontend.Operation, traits=[Pure]):
    """An op of the layer: what it takes and means is its schema."""

    def verify_invariants(self) -> bool:
        """Check the op against its formula; report the broken rule at the op's location."""
        return report_op(self, _check_typing, declares=False)

    @property
    def schema(self) -> Schema:
        """What the op takes and means.

        Raises:
            TinycError: `InvalidAttribute`: its selector is no choice of the op.
        """
        choice = None
        if self._op_name in SELECTORS:
            selector, _ = SELECTORS[self._op_name]
            held = self.attributes.get(selector)
            choice = held.value if isinstance(held, ir.StringAttr) else str(held)
        return find_schema(self._op_name, choice)

    @property
    def values(self) -> dict[str, Any]:
        """The attributes as plain data, those that are not given left out.

        Raises:
            TinycError: `InvalidAttribute`.
        """
        other = {_SEGMENTS, SELECTORS[self._op_name][0]} if self._op_name in SELECTORS else {_SEGMENTS}
        held = {name: self.attributes[name] for name in self.attributes if name not in other and "." not in name}
        return decode_attributes(self.schema, held)

    @property
    def named_operands(self) -> dict[str, ir.Value]:
        """The operands that are there, by the names that the formula gives them."""
        segments = self.attributes.get(_SEGMENTS)
        given = list(self.operation.operands)
        names = _operand_fields(self._op_name)
        if isinstance(segments, ir.DenseI32ArrayAttr):
            names = [name for name, count in zip(names, segments, strict=False) if count]
        return dict(zip(names, given, strict=False))


def _check_typing(op: FrontendOp) -> None:
    """Check that an op's results are those that its formula gives.

    Raises:
        TinycError: the broken rule.
    """
    found = tuple(tensor_type(result.type) for result in op.results)
    operands = {name: tensor_type(each.type) for name, each in op.named_operands.items()}
    expected = result_types(op.schema, operands, op.values)
    if found != expected:
        given, wanted = (", ".join(str(to_type(each)) for each in each_of) for each_of in (found, expected))
        raise Malformed(f"has the result types {given}; its operands give {wanted}")


def _operand_fields(name: str) -> Sequence[str]:
    """The operands of an op: of several choices, those of the one that takes the most."""
    return max((schema.operands for schema in SCHEMAS[name].values()), key=len)


def _fields(name: str) -> Iterator[tuple[str, Any]]:
    """The fields of an op and what they hold: results, and operands, of which some may be left out."""
    choices = SCHEMAS[name].values()
    results = next(iter(choices)).results
    yield from ((f"output{each}" if results > 1 else "output", ext.Result[Any]) for each in range(results))
    required = min(schema.required for schema in choices)
    for position, operand in enumerate(_operand_fields(name)):
        yield operand, ext.Operand[Any] if position < required else _LEFT_OUT


def _class_of(name: str) -> type[FrontendOp]:
    """Make the class of an op: `LayerNormOp` for `layer_norm`."""
    spelt = "".join(part.capitalize() for part in name.split("_")) + "Op"
    fields = dict(_fields(name))
    left_out = {field: None for field, held in fields.items() if held is _LEFT_OUT}
    doc = SELECTORS[name][1] if name in SELECTORS else SCHEMAS[name][None].doc
    facts = {"__doc__": doc, "__module__": __name__, "__annotations__": fields, **left_out}
    return types.new_class(spelt, (FrontendOp,), {"name": name}, lambda body: body.update(facts))


#: The classes of the ops by name.
_OPS = {name: _class_of(name) for name in SCHEMAS}


def build_op(
    schema: Schema,
    operands: Mapping[str, ir.Value],
    values: Mapping[str, Any],
    results: Sequence[TensorType],
    loc: ir.Location | None = None,
) -> ir.OpView:
    """Create a Frontend op at the insertion point; `results` are the types that its formula gives."""
    attributes = encode_attributes(schema, values)
    if schema.choice is not None:
        attributes[SELECTORS[schema.op][0]] = ir.StringAttr.get(schema.choice)
    fields = _operand_fields(schema.op)
    if sum(1 for _, held in _fields(schema.op) if held is _LEFT_OUT) > 1:
        attributes[_SEGMENTS] = ir.DenseI32ArrayAttr.get([int(name in operands) for name in fields])
    given = [operands[name] for name in fields if name in operands]
    return ir.Operation.create(f"frontend.{schema.op}", [to_type(each) for each in results], given, attributes, loc=loc)
