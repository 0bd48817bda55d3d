"""Tensors as attributes: what goes in comes out, through texts and bytecode; equal ones are one; files are not read."""

from pathlib import Path

import numpy as np
import pytest

from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.dialects.registry import context
from tinyc.dialects.tiny import ops as tiny
from tinyc.executors.elements import convert
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elements import INLINE_ELEMENTS, elements_of, resource_name
from tinyc.vocabulary.mapped_file import map_file

SHAPES = [(), (0, 3), (2, 3), (7, 11)]
LARGE = np.arange(INLINE_ELEMENTS + 1, dtype=np.float32)


def numbers(element, shape):
    generator = np.random.default_rng(3)
    if element.is_float:
        drawn = np.where(generator.random(shape) < 0.1, np.inf, generator.standard_normal(shape) * 100)
        return convert(np.asarray(drawn), element.dtype)
    low, high = element.integer_range
    kind = np.uint64 if element is ElementType.UI64 else np.int64
    return np.asarray(generator.integers(low, high, shape, kind, endpoint=True)).astype(element.dtype)


def module_of(*arrays):
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            for array in arrays:
                element = next(each for each in ElementType if each.dtype == array.dtype)
                tiny.build("const", [], {"value": array, "element": element, "shape": array.shape})
        return module


def attributes_of(module):
    return [op.attributes["value"] for op in module.body.operations]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element", ElementType)
def test_the_elements_survive_as_an_attribute_as_text_and_as_bytecode(element, shape):
    array = numbers(element, shape)
    module = module_of(array)
    printed = text.print_ir(module)
    assert ("dense_resource" in printed) == (array.size > INLINE_ELEMENTS)
    again = [text.parse(printed)]
    if array.size > INLINE_ELEMENTS:  # reading bytecode takes a process
        again.append(text.parse(text.bytecode_of(module)))
    for each in (module, *again):
        (attribute,) = attributes_of(each)
        found = elements_of(attribute)
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert not found.flags.writeable
        assert text.print_ir(each) == printed


def test_a_splat_is_a_broadcast_of_one_element():
    for element, value, expected in (("bf16", "1.5", 1.5), ("ui8", "200", 200), ("i1", "true", True)):
        held = f"tensor<30x50x{element}>"
        source = f'%0 = "tiny.const"() {{value = dense<{value}> : {held}}} : () -> {held}'
        (attribute,) = attributes_of(text.parse(source))
        found = elements_of(attribute)
        assert found.shape == (30, 50)
        assert found.strides == (0, 0)
        assert found[7, 9] == expected


def test_equal_tensors_are_one_attribute_and_others_are_not():
    same, copy, other, column = attributes_of(module_of(LARGE, LARGE.copy(), LARGE + 1, LARGE.reshape(5, 13)))
    assert same == copy
    assert len({resource_name(each) for each in (same, other, column)}) == 3


def test_the_attribute_refers_to_the_memory_of_the_array():
    (attribute,) = attributes_of(module_of(array := np.arange(100, dtype=np.int16)))
    assert np.shares_memory(elements_of(attribute), array)


def test_a_text_for_people_leaves_large_tensors_out_and_is_not_read_back():
    module = module_of(LARGE)
    assert text.print_ir(module, elide_resources=8 * LARGE.size) == text.print_ir(module)
    printed = text.print_ir(module, elide_resources=8 * LARGE.size - 1)
    assert "dialect_resources" not in printed
    with pytest.raises(TinycError, match=r"the elements of 'dense_resource<const_\w+>' are not in this text") as caught:
        text.parse(printed)
    assert caught.value.where.line == 2


@pytest.mark.parametrize(
    ("type_text", "blob", "message"),
    [
        ("3xf32", "00" * 8, "has 8 bytes, and its type takes 12"),
        ("3xi1", "000102", "has a byte that is neither 0 nor 1"),
        ("3xi7", "000000", "i7 is not an element type"),
    ],
)
def test_a_resource_has_the_bytes_of_its_type(type_text, blob, message):
    source = (
        f'%0 = "tiny.const"() {{value = dense_resource<w> : tensor<{type_text}>}} : () -> tensor<{type_text}>\n'
        f'{{-# dialect_resources: {{ builtin: {{ w: "0x01000000{blob}" }} }} #-}}'
    )
    with pytest.raises(TinycError, match=message):
        text.parse(source)


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_mapped_file_of_4_gb_is_not_read(tmp_path):
    with (tmp_path / "weights").open("wb") as file:
        file.truncate(2**32)  # which takes no space on the disk
    with (tmp_path / "weights").open("rb") as file:
        mapped = map_file(file, tmp_path / "weights").view(np.float32)
    before = resident_bytes()
    module = module_of(mapped)
    printed = text.print_ir(module, elide_resources=text.READABLE_RESOURCE)
    assert "tensor<1073741824xf32>" in printed
    assert attributes_of(module_of(mapped)) == attributes_of(module)
    assert resident_bytes() - before < 2**26


def test_files_of_one_name_are_told_apart(tmp_path):
    arrays = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.full(2**20, folder == "b", np.int32).tofile(tmp_path / folder / "w")
        with (tmp_path / folder / "w").open("rb") as file:
            arrays.append(map_file(file, tmp_path / folder / "w").view(np.int32))
    one, other = attributes_of(module_of(*arrays))
    assert [elements_of(each)[0] for each in (one, other)] == [0, 1]
    assert len(set(text.print_ir(module_of(*arrays), elide_resources=0).split("dense_resource<"))) == 3
