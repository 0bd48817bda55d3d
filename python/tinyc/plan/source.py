"""Where a plan comes from: a file, JSON or DSL text, a dictionary, or a plan that is there already.

In: whatever `tinyc.compile(plan=…)` or `region-plan{plan=…}` was given. Out: a `Plan` for every region, a `PlanTable`
with one for some, or None, which leaves the choice to the compiler.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.files import read
from tinyc.importers import json_text as documents
from tinyc.plan import dsl, json_text
from tinyc.plan.dsl_tokens import STATEMENTS
from tinyc.plan.fields import Plan
from tinyc.plan.table import PlanTable

#: More than the plans of any program, and less than would take long to refuse.
MAX_CHARACTERS = 2**22
_LONGEST_PATH = 4096

#: What plan text in one line begins with, a misspelt statement too; no usual name of a file.
_TEXT = re.compile(rf"\s*(?:#|\[|(?:{'|'.join(STATEMENTS)})(?:\s|$))", re.IGNORECASE)


def load(source: Any) -> Plan | PlanTable | None:
    """Return the plan or the table that `source` means: a path, JSON or DSL text, a dictionary, a plan, or None.

    A text is told from a path by a brace, a `;` or a line break, or because it begins like one; in a text, what begins
    with a bracket is JSON.

    Raises:
        TinycError: `UnreadableFile`, or `InvalidPlan` for each problem in a text.
    """
    if source is None or isinstance(source, Plan | PlanTable):
        return source
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, os.PathLike) or (isinstance(source, str) and source.strip() and not _is_text(source)):
        return _from_bytes(_content(source), str(source))
    if isinstance(source, str | bytes):
        return _from_text(source, None) if isinstance(source, str) else _from_bytes(source, None)
    raise TinycError(
        "InvalidPlan",
        f"{type(source).__name__} is no type of a plan; give a path, JSON or DSL text, a dictionary, or a Plan",
    )


def _content(source: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a plan's file."""
    name = str(source)
    try:
        if isinstance(source, str) and len(name) > _LONGEST_PATH:
            raise TinycError("UnreadableFile", "cannot read the file", Where(file=f"{name[:40]}…"))
        return read(Path(source))
    except TinycError as error:
        message = f"{error.message}; give the path of a plan, or its text: {json_text.EXAMPLE}; {dsl.EXAMPLE}"
        raise TinycError(error.name, message, error.where) from None


def _is_text(source: str) -> bool:
    return bool({"{", ";", "\n"} & set(source)) or _TEXT.match(source) is not None


def _from_mapping(source: Mapping[Any, Any]) -> Plan | PlanTable:
    """Return what the JSON form of a dictionary means, whose places nobody wants to know."""
    plans = {key: value.values() if isinstance(value, Plan) else value for key, value in source.items()}
    try:
        document = documents.read(plans)
    except TinycError as error:
        raise json_text.as_invalid_plan(error) from None
    return json_text.from_values(document.value, {}, Where())


def _from_bytes(data: bytes, filename: str | None) -> Plan | PlanTable:
    try:
        text = documents.decoded(data, filename)
    except TinycError as error:
        raise json_text.as_invalid_plan(error) from None
    return _from_text(text, filename)


def _from_text(text: str, filename: str | None) -> Plan | PlanTable:
    where, text = Where(file=filename), text.removeprefix("\ufeff")
    if not text.strip():
        raise TinycError("InvalidPlan", f"the plan is empty; {json_text.EXAMPLE}; {dsl.EXAMPLE}", where)
    if len(text) > MAX_CHARACTERS:
        raise TinycError("InvalidPlan", f"the plan is longer than {MAX_CHARACTERS} characters", where)
    first = documents.first_character(text)
    is_json = (filename or "").endswith(".json") or first in ("{", "[", "/", "")  # "/": an open comment
    return (json_text if is_json else dsl).parse(text, filename)
