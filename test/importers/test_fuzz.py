"""Whatever a file holds, what comes out is a module or a `TinycError`, soon."""

import contextlib
import copy
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importers.documents import DATA
from programs.example_bindings import EXAMPLES
from tinyc.diagnostics import TinycError
from tinyc.importers import json_text, tiny_json

SOURCES = [json_text.read(path).value for path in (*sorted(EXAMPLES.glob("*.json")), *DATA.glob("*.json"))]
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.json"))]
SECONDS = 10

ODD_NUMBERS = [None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, 10**400, 0.5, float("nan"), float("inf")]
ODD_TEXTS = ["", "M", "n0", "x", "#1", "M*N", "M//0", "((((", "9" * 40, "__import__('os')", "floordiv", "i0", "\0"]
NAMES = ["fp16", "bool", "INPUT", "REDUCE", "TOPK", "VIEW", "relu", "shape", "uops", "values", "dtype"]
ODD_LISTS = [[], [[]], [0, 1], [-1], ["M"], [2**62] * 4, [1] * 40]
ODD = st.sampled_from([*ODD_NUMBERS, *ODD_TEXTS, *NAMES, *ODD_LISTS, {}, {"map": ["i0-i1"]}]).map(copy.deepcopy)
TEXT = st.sampled_from([*ODD_TEXTS, *NAMES])
COMMON = settings(max_examples=300, suppress_health_check=list(HealthCheck))


def children(value):
    """Return (key, value) of what a JSON value directly holds."""
    return [*value.items()] if isinstance(value, dict) else [*enumerate(value)] if isinstance(value, list) else []


def spots(value):
    """Return (parent, key) of everything inside a JSON value."""
    found = []
    for key, inner in children(value):
        found += [(value, key), *spots(inner)]
    return found


@st.composite
def mutated(draw):
    """Draw a listing with up to three of its values replaced, removed, doubled or overwritten by another."""
    document = copy.deepcopy(draw(st.sampled_from(SOURCES)))
    for _ in range(draw(st.integers(1, 3))):
        everything = spots(document)
        if not everything:
            break
        parent, key = draw(st.sampled_from(everything))
        match draw(st.sampled_from(["replace", "remove", "copy", "double"])):
            case "replace":
                parent[key] = draw(ODD)
            case "remove":
                del parent[key]
            case "copy":
                other, name = draw(st.sampled_from(everything))
                parent[key] = copy.deepcopy(other[name])
            case "double" if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
    return document


def attempt(source, bind=None):
    """Import and export; let through nothing but `TinycError`."""
    start = time.monotonic()
    with contextlib.suppress(TinycError):
        module = tiny_json.import_program(source, bind)
        with module.context:
            assert module.operation.verify()
        again = tiny_json.import_program(tiny_json.dump(module))
        assert str(again) == str(module)
    assert time.monotonic() - start < SECONDS


@COMMON
@given(mutated(), st.sampled_from([0, 1, 3]))
def test_mutated_listings(document, size):
    attempt(document, dict.fromkeys(("Kh", "Kw", "Sh", "Sw", "Dh", "Dw"), size) if size else None)


@COMMON
@given(st.sampled_from(TEXTS), st.data())
def test_truncated_and_spliced_text(text, data):
    start, stop = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    attempt(data.draw(st.sampled_from([text[:start], text[:start] + text[stop:], text[:start] + '"' + text[start:]])))


@COMMON
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_noise(noise):
    attempt(noise)


ANY = st.recursive(ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))


@COMMON
@given(ANY)
def test_any_json_as_an_entry(entry):
    attempt({"uops": [entry, {"id": "y", "uop": "RELU", "src": ["n0"]}], "values": {"n0": entry}})


def chain(*nodes):
    return {"uops": list(nodes), "values": {"x": {"dtype": "fp32", "shape": ["M", "N"]}}}


def uop(id, source, uop, **arg):
    return {"id": id, "src": [source], "uop": uop, "arg": arg}


def repeated(count, *uops):
    """Return a chain in which each of `uops` reads the last."""
    nodes, last = [], "x"
    for number in range(count):
        for position, (kind, arg) in enumerate(uops):
            nodes.append(uop(f"n{number}.{position}", last, kind, **arg))
            last = nodes[-1]["id"]
    return chain(*nodes)


GROWING = {
    "squares": repeated(100, ("RESHAPE", {"result_shape": ["M*N", "M*N"]})),
    "degrees": repeated(1, *(("RESHAPE", {"result_shape": [f"U{k}*U{k}", f"U{k + 1}"]}) for k in range(60))),
    "floor divisions": repeated(
        1500,
        ("POOL", {"kernel": [3], "stride": [2]}),
        ("REDUCE", {"op": "SUM", "axes": [-1], "dtype": "fp32"}),
    ),
    "pads": repeated(2000, ("PAD", {"pad": [[2**60, 0], [0, 0]]})),
    "products": chain(
        uop("e", "x", "EXPAND", result_shape=["M + 1"] * 30 + ["M", "N"]),
        uop("r", "e", "RESHAPE", result_shape=["P + 1"] * 32),
    ),
    "unknowns": chain(
        uop("e", "x", "EXPAND", result_shape=[f"A{k}" for k in range(10)] + ["M", "N"]),
        uop("r", "e", "RESHAPE", result_shape=[f"B{k}" for k in range(12)]),
    ),
    "long expression": chain(uop("v", "x", "VIEW", result_shape=[1], index_map={"map": ["+".join(["i0"] * 190), 0]})),
}


@pytest.mark.parametrize("name", GROWING)
def test_extents_that_grow_without_end(name):
    attempt(GROWING[name])


def test_a_long_chain_is_imported_soon():
    attempt(chain(*(uop(f"n{k}", f"n{k - 1}" if k else "x", "RELU") for k in range(10_000))))
