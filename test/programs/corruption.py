"""Corrupted programs: random ones whose documents have been changed in one to three places, as by slips of the hand."""

import copy
import json

from hypothesis import strategies as st

from programs.strategies import programs

#: What may come to stand anywhere in a document.
_STRAYS = (
    *(0, 1, -1, 2, 3, 7, 2**31, 2**63, 1.5, -0.0, 1e308, True, False, None),
    *("", "M", "x", "M + 1", "-M", "M floordiv 0", "fp32", "int8", "bool", "SUM", "ADD", "RESHAPE", "#1", "é"),
    *([], [0], [1, 1], ["M"], {}, {"axes": [0]}),
)


@st.composite
def corrupted_documents(draw):
    """Draw a document as text, and the sizes that its symbols are to have."""
    program = draw(programs())
    document = copy.deepcopy(program.document)
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3)))):
        _corrupt(draw, document)
    return json.dumps(document), program.sizes


def _corrupt(draw, document):
    holder, key = draw(st.sampled_from(_places(document)))
    value = holder[key]
    change = draw(st.sampled_from(("stray", "stray", "other", "drop", "double", "rename", "wrap")))
    if change == "stray":
        holder[key] = copy.deepcopy(draw(st.sampled_from(_STRAYS)))
    elif change == "other":
        other, at = draw(st.sampled_from(_places(document)))
        holder[key] = copy.deepcopy(other[at])
    elif change == "drop":
        del holder[key]
    elif change == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif change == "rename" and isinstance(holder, dict):
        holder[draw(st.sampled_from((key + "s", key[:-1], key.upper(), "arg", "src")))] = holder.pop(key)
    elif change == "wrap":
        holder[key] = [value]


def _places(document):
    """Return the holder and the key of every value of a document, at any depth."""
    found, pending = [], [document]
    while pending:
        holder = pending.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])
    return found or [({"uops": []}, "uops")]
