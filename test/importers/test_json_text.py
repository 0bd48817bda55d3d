"""Lenient JSON: what is forgiven, what is not, and where an error is."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyc.diagnostics import TinycError
from tinyc.importers.json_text import read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def error(source, filename=None):
    with pytest.raises(TinycError) as caught:
        read(source, filename)
    assert caught.value.name in ("InvalidJson", "UnreadableFile")
    return caught.value


@given(VALUES)
def test_json_is_read_as_the_standard_library_does(value):
    assert read(json.dumps(value)).value == value


@given(VALUES, st.sampled_from(["// x,]\n", "/* ], // */", "/**/", " \n"]))
def test_comments_go_anywhere_between_tokens(value, comment):
    text = json.dumps(value, indent=0).replace("\n", comment + "\n")
    assert read(comment + text + comment).value == value


@given(VALUES)
def test_python_objects_are_read_like_their_json(value):
    if not isinstance(value, str):
        assert read(value).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2,]", [1, 2]),
        ('{"a": [1,],}', {"a": [1]}),
        ("[1, /* last */ ] // end", [1]),
        ('["// no comment", "/* neither */", ",]"]', ["// no comment", "/* neither */", ",]"]),
        ('["\\"// still inside"]', ['"// still inside']),
        ("[-Infinity, 1e300]", [float("-inf"), 1e300]),
        ('"\\ud83d\\ude00"', "😀"),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_what_is_forgiven(text, value):
    assert read(text).value == value


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[1,,]", 1, 4),
        ("[,]", 1, 2),
        ("[1,\n 2", 2, 3),
        ("// one\n/* two\n */ {]", 3, 6),
        ("[1] /* open", 1, 5),
        ("[\n" * 70, 65, 1),
        ("", 1, 1),
        ('"open', 1, 1),
    ],
)
def test_errors_have_their_place(text, line, column):
    where = error(text, "f.json").where
    assert (where.file, where.line, where.column) == ("f.json", line, column)


def test_a_duplicate_key_is_an_error_and_names_the_node():
    found = error('{"uops": [{"id": "n1", "uop": "ADD", "uop": "SUB"}]}')
    assert "'uop' stands twice" in found.message
    assert found.where.node == "n1"


@pytest.mark.parametrize("text", ['"\\ud800"', '"\ud800"', '["\\udc00\\ud800"]'])
def test_half_a_surrogate_pair_is_an_error(text):
    assert "surrogate" in error(text).message


@pytest.mark.parametrize("data", [b"\xff\xfe\x00{", bytes(range(256)), b"\x7fELF\x02\x01\x01" + bytes(50)])
def test_binary_noise_is_an_error(data):
    error(data)


@pytest.mark.parametrize("value", [{1, 2}, {"a": object()}, [1 + 2j], {("a",): 1}])
def test_objects_that_are_no_json_are_errors(value):
    assert "not a JSON value" in error(value).message


def test_an_object_that_contains_itself_is_an_error():
    value = {}
    value["value"] = value
    assert "not a JSON value" in error(value).message


def test_a_number_of_many_digits_is_an_error():
    assert "too many digits" in error("[" + "9" * 5000 + "]").message


@pytest.mark.parametrize("number", ["1e400", "-1.5E+999", "1" + "0" * 400 + ".0"])
def test_a_number_beyond_the_largest_float_is_no_infinity(number):
    refused = error(f'{{"{number}":\n"{number}", "value": {number}}}')
    assert "is beyond fp64; write a smaller one, or Infinity" in refused.message
    assert (refused.where.line, refused.where.column) == (2, len(number) + 14)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    missing = tmp_path / "missing.json"
    assert error(missing).where.file == str(missing)


@pytest.mark.parametrize(
    "text",
    ["[" * 10**6, '{"a":' * 10**6, '"' * 10**6, '"\\' * 10**6, "/*" * 10**6, "," * 10**6, "/" * 10**6, "[1,]" * 10**5],
    ids=lambda text: text[:4],
)
def test_long_nonsense_is_refused_in_linear_time(text):
    start = time.monotonic()
    error(text)
    assert time.monotonic() - start < 20


def test_the_objects_of_top_level_lists_are_located():
    document = read('{"x": 1, "uops": [3, {"id": 1},\n  {"id": [{}]}], "ops": [\n{}]}')
    assert document.entries == [[(1, 22), (2, 3)], [(3, 1)]]
