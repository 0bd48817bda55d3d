"""What holds of each `poly` op by itself: the kinds of its attributes, and that a block reads back."""

import re

from tinyc.analysis.isl.notation import NotReadable
from tinyc.analysis.poly.block import BLOCK_KINDS
from tinyc.analysis.poly.edge import DEPENDENCE_KINDS
from tinyc.diagnostics import TinycError
from tinyc.dialects.poly.decode import decode_block, text_of, texts_of
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import BY_NAME

_TEXTS = ("name", "kind", "domain", "write", "reason", "source", "target")
_RELATION_LISTS = ("accesses", *DEPENDENCE_KINDS)
_LISTS = (*_RELATION_LISTS, "reads", "outputs")
#: The attributes whose texts are sets or maps in isl's notation.
RELATIONS = ("domain", "write", *_RELATION_LISTS)
_DIVISION = re.compile(r"\b(floor|floord|ceild|mod)\b|%")


def check_kinds(attributes: ir.OpAttributeMap) -> None:
    """Check that each attribute that is there is of its kind.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    for name in _TEXTS:
        if name in attributes:
            text_of(attributes, name)
    for name in _LISTS:
        if name in attributes:
            texts_of(attributes, name)
    if "kind" in attributes and text_of(attributes, "kind") not in BLOCK_KINDS:
        raise TinycError("InvalidAttribute", f"kind {attributes['kind']} is not one of {', '.join(BLOCK_KINDS)}")
    if "attrs" in attributes and not isinstance(attributes["attrs"], ir.DictAttr):
        raise TinycError("InvalidAttribute", f"'attrs' is {attributes['attrs']}, not a dictionary")


def check_elements(attributes: ir.OpAttributeMap) -> None:
    """Check that the `elements` of a view are element types by the names of tensors.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    elements = attributes["elements"]
    found = [elements[k].attr for k in range(len(elements))] if isinstance(elements, ir.DictAttr) else [elements]
    if not all(isinstance(each, ir.StringAttr) and each.value in BY_NAME for each in found):
        raise TinycError("InvalidAttribute", f"'elements' is {elements}, not element types by the names of tensors")


def check_block(attributes: ir.OpAttributeMap) -> None:
    """Check that a block reads back; a set or map in another form is left to isl, where it divides nothing.

    Raises:
        TinycError: `InvalidAttribute`, `ExcessivePiecewise`.
    """
    check_kinds(attributes)
    try:
        decode_block(attributes)
    except NotReadable as error:
        texts = [text for name in RELATIONS if name in attributes for text in relation_texts(attributes[name])]
        if any(_DIVISION.search(text) for text in texts):
            raise TinycError("InvalidAttribute", str(error)) from None


def relation_texts(attribute: ir.Attribute) -> list[str]:
    """The texts of an attribute that is a set or a map, or a list of these."""
    items = attribute if isinstance(attribute, ir.ArrayAttr) else [attribute]
    return [item.value for item in items if isinstance(item, ir.StringAttr)]
