"""Writes a plan as a program of the DSL, a field on a line.

In: a `Plan`. Out: the text that `dsl.parse` reads as that plan: statements in the order of 000's sample where they can
say a field, and `set` for every other field. Equal plans are written as equal text.
"""

import json
from collections.abc import Callable
from typing import Any

from tinyc.plan.dsl_tokens import is_name
from tinyc.plan.fields import Plan

#: The names in a statement, which must be words there, and its text.
_Statement = tuple[list[str], str]


def plan_to_dsl(plan: Plan) -> str:
    """The program of a plan."""
    values = plan.values()
    lines: list[str] = []
    for fields, write in _WRITERS:
        if not values.keys() >= set(fields):
            continue
        statements = write(*(values[field] for field in fields))
        if statements and all(is_name(name) for names, _ in statements for name in names):
            lines.append(" ".join(f"{text};" for _, text in statements))
            values = {name: value for name, value in values.items() if name not in fields}
    lines += [f"set {name} = {json.dumps(value, ensure_ascii=False)};" for name, value in values.items()]
    return "\n".join(lines or ["# no field is given"]) + "\n"


def _entries(keyword: str) -> Callable[[dict[str, Any]], list[_Statement]]:
    return lambda entries: [([key], f"{keyword} {key} {value}") for key, value in entries.items()]


def _list(keyword: str) -> Callable[[list[str]], list[_Statement]]:
    return lambda words: [(words, f"{keyword} {' '.join(words)}")] if words else []


def _fuse(triples: list[list[str]]) -> list[_Statement]:
    return [(triple, "fuse {} {} -> {}".format(*triple)) for triple in triples]


def _pipeline(axis: str, stages: int) -> list[_Statement]:
    return [([axis], f"pipeline {axis} stages={stages}")]


def _cache_read(entries: list[dict[str, Any]]) -> list[_Statement]:
    return [([entry["tensor"], entry["at"]], _cached(**entry)) for entry in entries]


def _cached(tensor: str, where: str, at: str, pingpong: bool | None = None) -> str:
    rest = "" if pingpong is None else f" pingpong={str(pingpong).lower()}"
    return f"cache_read {tensor} {where} at={at}{rest}"


def _vectorize(vectorize: dict[str, Any]) -> list[_Statement]:
    return [([vectorize["axis"]], f"vectorize {vectorize['axis']} {vectorize['width']}")]


#: The fields that a statement says, and how it is written from their values.
_WRITERS: tuple[tuple[tuple[str, ...], Callable[..., list[_Statement]]], ...] = (
    (("split",), _entries("split")),
    (("order",), _list("reorder")),
    (("fuse",), _fuse),
    (("bind",), _entries("bind")),
    (("pipeline", "stages"), _pipeline),
    (("cache",), _cache_read),
    (("vectorize",), _vectorize),
    (("unroll",), _entries("unroll")),
    (("predicate_tail",), _list("predicate_tail")),
    (("epilogue",), _list("epilogue")),
    (("algo_choice",), _entries("algo_choice")),
)
