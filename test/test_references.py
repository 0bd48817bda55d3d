"""The reference pages in `docs` say what the code's tables say: `tiny-json.md`, `plan.md`, and `explain.md` of fusion.

A table of a page is found by its header. The cells that name things are compared; prose is left to the writer.
"""

import dataclasses
import json
import re
from typing import get_type_hints

import numpy as np
import pytest
from markdown_it import MarkdownIt

import tinyc
from plan.documented import admitted
from test_structure import ROOT
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.fusion.ledger import FUSION_RULES
from tinyc.importers import arguments, spellings
from tinyc.importers.arguments import DECLARED, FIELDS, Field, WrongValue
from tinyc.plan.dsl_tokens import STATEMENTS
from tinyc.plan.fields import ATTRIBUTES, Plan
from tinyc.plan.source import load_plan
from tinyc.schemes.names import SCHEME_NAMES
from tinyc.schemes.registry import CPU_KINDS, SCHEMES
from tinyc.schemes.scheme import FIELDS_OF_ALL
from tinyc.vocabulary.element_type import BY_JSON_NAME
from tinyc.vocabulary.elementwise import ROWS

TINY_JSON, PLAN, EXPLAIN = "docs/tiny-json.md", "docs/plan.md", "docs/explain.md"
REQUIRED = Field("", str).default


def tokens(page):
    return MarkdownIt().enable("table").parse((ROOT / page).read_text(encoding="utf-8"))


def blocks(page, language):
    return [token.content for token in tokens(page) if token.type == "fence" and token.info.strip() == language]


def tables(page):
    """Return the tables of a page as lists of rows of cells."""
    found, last = [], None
    for token in tokens(page):
        match token.type:
            case "table_open":
                found.append([])
            case "tr_open":
                found[-1].append([])
            case "inline" if last in ("th_open", "td_open"):
                found[-1][-1].append(token.content)
        last = token.type
    return found


def table(page, *header):
    """Return the rows of the table with a header, whose last columns may be left out."""
    (rows,) = [rows for rows in tables(page) if tuple(rows[0][: len(header)]) == header]
    return rows[1:]


def words(cell):
    """Return what a cell has in code."""
    return re.findall(r"`([^`]+)`", cell)


# --- Tiny JSON --------------------------------------------------------------------------------------------------------


def test_the_page_has_every_key_of_a_file():
    program, of_uops, of_ops, of_values, free = (words(cell) for _, cell in table(TINY_JSON, "where", "keys"))
    assert (program, of_uops, of_ops) == (
        list(spellings.TOP_KEYS),
        list(spellings.UOP_KEYS),
        list(spellings.OP_KEYS),
    )
    assert of_values == list(spellings.VALUE_KEYS) == [field.key for field in DECLARED]
    assert free == [*spellings.FREE_KEYS, "_"]


def test_the_page_has_every_dtype():
    rows = [(words(name)[0], int(bits), kind) for name, bits, kind in table(TINY_JSON, "dtype", "bits")]
    assert rows == [(name, e.bits, e.kind.name.lower()) for name, e in BY_JSON_NAME.items()]


def test_the_page_has_every_elementwise_uop():
    rows = [
        (words(uop)[0], int(sources), takes, words(gives))
        for uop, sources, takes, gives, _ in table(TINY_JSON, "uop", "sources", "takes")
    ]
    given = [[] if row.gives is None else [row.gives.json_name] for row in ROWS.values()]
    expected = [(r.json_name, r.arity, r.accepts.words, gives) for r, gives in zip(ROWS.values(), given, strict=True)]
    assert sorted(rows) == sorted(expected)


@pytest.mark.parametrize("uop", ["IDIV", "MOD"])
def test_the_page_says_what_a_division_by_zero_gives(uop):
    (note,) = [row[4] for row in table(TINY_JSON, "uop", "sources", "takes") if words(row[0]) == [uop]]
    said = {"0": 0, "x": 7}[note.partition("; by 0 it is ")[2]]
    assert ROWS[uop.lower()].meaning(np.int32(7), np.int32(0)) == said


def test_the_page_has_every_argument():
    rows = table(TINY_JSON, "uop", "sources", "key")
    given = {(words(uop)[0], int(sources), tuple(words(key)), bool(default)) for uop, sources, key, _, default in rows}
    expected = {
        (uop, spellings.ARITY[uop], (field.key, *field.aliases), field.default is not REQUIRED)
        for uop, fields in FIELDS.items()
        for field in fields
    }
    assert len(rows) == len(given)
    assert given == expected


def field_of(row):
    (field,) = [each for each in FIELDS[words(row[0])[0]] if each.key == words(row[2])[0]]
    return field


@pytest.mark.parametrize(
    "row", table(TINY_JSON, "uop", "sources", "key"), ids=lambda row: "-".join(words(row[0] + row[2]))
)
def test_a_default_and_a_choice_are_those_of_the_code(row):
    field, literal = field_of(row), words(row[4])
    if isinstance(field.default, bool | int | tuple):
        assert json.loads(literal[0]) == (list(field.default) if isinstance(field.default, tuple) else field.default)
    with pytest.raises((WrongValue, arguments.ExtentError)) as refused:
        field.read({"not": "a value"})
    choices = str(refused.value)
    if choices.startswith("one of ") and not choices.endswith("bool"):
        assert row[3] == choices
    else:
        assert not row[3].startswith("one of ")


def test_every_uop_is_in_a_table():
    headers = [("uop", "sources", "takes"), ("uop", "sources", "key"), ("uop", "sources", "")]
    listed = {words(row[0])[0]: int(row[1]) for header in headers for row in table(TINY_JSON, *header)}
    assert listed == {uop: spellings.ARITY[uop] for uop in spellings.UOPS}
    composed = [words(row[0])[0] for row in table(TINY_JSON, "uop", "sources", "")]
    assert sorted(composed) == sorted(set(spellings.COMPOSITES) & set(spellings.UOPS))


def test_the_page_has_every_word_of_000():
    rows = {words(op)[0]: (words(key)[0], words(cell)) for op, key, cell in table(TINY_JSON, "op", "named by")}
    expected = {
        op: ("kind" if op == "Movement" else "fn", sorted(known)) for op, known in spellings.WORDS_OF_000.items()
    }
    assert {op: (key, sorted(known)) for op, (key, known) in rows.items()} == expected
    renamed = [
        (word, uop)
        for op, known in spellings.WORDS_OF_000.items()
        for word, uop in known.items()
        if uop != word.upper()
    ]
    text = (ROOT / TINY_JSON).read_text(encoding="utf-8")
    assert renamed
    for word, uop in renamed:
        assert f"`{word}` is `{uop}`" in text
    for word in {known for known in spellings.COMPOSITES if known not in spellings.UOPS}:
        assert f"`{word.lower()}`" in text


@pytest.mark.parametrize("text", blocks(TINY_JSON, "json"))
def test_a_program_of_the_page_compiles(text):
    assert tinyc.compile(text, bind={"Q": 3} if '"Q"' in text else None)


def test_a_node_of_each_spelling_is_read():
    nodes = [json.loads(words(row[1])[0]) for row in table(TINY_JSON, "spelling", "a node")]
    x = {"x": {"dtype": "fp32", "shape": ["M", 4]}}
    texts = {tinyc.compile({"ops" if "op" in node else "uops": [node], "values": x}).text("tiny") for node in nodes}
    assert len(nodes) == 3
    assert len(texts) == 1


# --- plans ------------------------------------------------------------------------------------------------------------


def schemes_of(field):
    """Return the third cell of a field's row."""
    if field in FIELDS_OF_ALL:
        return "all"
    return ", ".join(dict.fromkeys(f"`{each.name}`" for each in (*SCHEMES, *CPU_KINDS) if field in each.fields))


def test_the_page_has_every_field_with_its_range_and_its_schemes():
    hints = get_type_hints(Plan, include_extras=True)
    expected = [
        (name, admitted(hints[attribute].__metadata__[0]), schemes_of(name)) for name, attribute in ATTRIBUTES.items()
    ]
    rows = table(PLAN, "field", "values", "schemes", "meaning")
    assert [(words(field)[0], values, schemes) for field, values, schemes, _ in rows] == expected
    assert all(meaning for *_, meaning in rows)


def test_the_page_has_every_scheme():
    rows = {words(name)[0]: what != "not built yet" for name, what in table(PLAN, "scheme")}
    there = {each.name for each in (*SCHEMES, *CPU_KINDS)}
    assert rows == {name: name in there for name in SCHEME_NAMES}


def test_the_page_has_every_statement_with_what_it_gives():
    rows = [[words(cell) for cell in row] for row in table(PLAN, "statement", "example", "gives")]
    assert [statement for [statement], _, _ in rows] == list(STATEMENTS)
    for [statement], [example], fields in rows:
        assert example.split()[0] == statement
        assert list(load_plan(f"{example};").values()) == fields


@pytest.mark.parametrize("text", [*blocks(PLAN, "json"), *blocks(PLAN, "text")])
def test_a_plan_of_the_page_is_one(text):
    assert load_plan(text)


# --- fusion -----------------------------------------------------------------------------------------------------------


def test_the_page_has_every_rule_of_fusion_with_what_flips_it():
    rows = table(EXPLAIN, "rule", "what it says", "what flips it")
    assert [(words(rule)[0], said) for rule, said, _ in rows] == list(FUSION_RULES.items())
    assert all(flip for *_, flip in rows)


def test_the_page_has_every_option_of_the_pass_with_its_default():
    rows = table(EXPLAIN, "option", "default", "meaning")
    defaults = [(each.name.replace("_", "-"), each.default) for each in dataclasses.fields(TinyToRegion)]
    assert [(words(name)[0], words(default)[0] if words(default) else None) for name, default, _ in rows] == defaults


@pytest.mark.parametrize("page", [TINY_JSON, PLAN, EXPLAIN])
def test_the_readme_leads_to_every_page(page):
    assert f"]({page}" in (ROOT / "README.md").read_text(encoding="utf-8")
