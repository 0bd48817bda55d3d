"""A ledger is kept as JSON; a text that is none is refused, with what it lacks."""

import json
from dataclasses import replace

import pytest

from tinyc.diagnostics import TinycError
from tinyc.fusion.ledger import Decision, Ledger, RegionEntry, Siblings, ledger_from_json, ledger_to_json

SIBLINGS = Siblings(("m",), ("ü",), ("x",), "2 us apart, 1 us as one kernel", {"saved_bytes": 8})
LEDGER = Ledger(
    "main",
    "cpu",
    (RegionEntry("r0", ("m", "ü"), ("x",), ("y",), "rows", ("M", "2*N"), {"us": 1.5, "flops": 7}, (SIBLINGS,)),),
    (
        Decision(
            "m", "y", "fused", "loops", "2 us apart, 1 us fused", "1 us more", {"saved_bytes": 8, "scheme": "rows"}
        ),
        Decision("y", "z", "kept", "cost", "1 us apart, 2 us fused", "1 us less", {}),
    ),
)


def test_a_ledger_comes_back_from_its_json():
    assert ledger_from_json(ledger_to_json(LEDGER)) == LEDGER
    assert ledger_to_json(ledger_from_json(ledger_to_json(LEDGER))) == ledger_to_json(LEDGER)


def test_a_ledger_that_was_kept_before_siblings_were_told_still_reads():
    (entry,) = ledger_from_json(changed(["regions", 0, "siblings"], None)).regions
    assert entry == replace(LEDGER.regions[0], siblings=())


def changed(path, value):
    """Return the JSON of the ledger with a value in another place; None takes the key out."""
    document = json.loads(ledger_to_json(LEDGER))
    *way, last = path
    place = document
    for key in way:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["target"], None, "it lacks 'target'"),
        (["regions"], 3, "not iterable"),
        (["regions", 0], "r0", "'r0' is no JSON object"),
        (["regions", 0, "ops"], None, "it lacks 'ops'"),
        (["regions", 0, "ops"], [1], "1 is no text"),
        (["regions", 0, "cost"], [], "[] is no JSON object"),
        (["regions", 0, "cost", "us"], "fast", "'fast' is no number"),
        (["decisions", 0, "verdict"], "maybe", "the verdict 'maybe' is neither 'fused' nor 'kept'"),
        (["regions", 0, "siblings"], [3], "3 is no JSON object"),
        (["regions", 0, "siblings", 0, "one"], None, "it lacks 'one'"),
        (["decisions", 0, "evidence"], [], "[] is no JSON object"),
        (["decisions", 1, "flip"], 0, "0 is no text"),
    ],
)
def test_a_text_that_is_no_ledger_is_refused(path, value, said):
    with pytest.raises(TinycError) as caught:
        ledger_from_json(changed(path, value))
    assert caught.value.name == "InvalidJson"
    assert said in str(caught.value)
    assert "write one with tinyc explain --fusion-json" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null"])
def test_so_is_what_is_no_object(text):
    with pytest.raises(TinycError, match="no ledger of fusion"):
        ledger_from_json(text)
