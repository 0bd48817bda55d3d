"""Where a plan comes from: a file, JSON or DSL text, a dictionary, or a plan that is there already.

In: whatever `tinyc.compile(plan=…)` or `region-plan{plan=…}` was given. Out: a `Plan` for every region, a `PlanTable`
with one for some, or None, which leaves the choice to the compiler.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

from tinyc.diagnostics import TinycError, Where
from tinyc.importers import json_text as documents
from tinyc.importers.files import read_file
from tinyc.plan.dsl import DSL_PLAN_EXAMPLE, parse_plan_dsl
from tinyc.plan.dsl_tokens import STATEMENTS
from tinyc.plan.fields import Plan
from tinyc.plan.json_text import JSON_PLAN_EXAMPLE, as_invalid_plan, parse_plan_json, plan_of_json
from tinyc.plan.kinds import is_object
from tinyc.plan.table import PlanTable

#: More than the plans of any program, and less than would take long to refuse.
MAX_CHARACTERS = 2**22
_LONGEST_PATH = 4096
#: What stands for the file in the place of an error, where the plan itself was given: the name of the option.
_IN_PLACE = "plan"

#: What plan text in one line begins with, a misspelt statement too; not a usual name of a file.
_TEXT = re.compile(rf"\s*(?:#|\[|(?:{'|'.join(STATEMENTS)})(?:\s|$))", re.IGNORECASE)


def load_plan(source: object) -> Plan | PlanTable | None:
    """The plan or the table that `source` means: a path, JSON or DSL text, a dictionary, a plan, or None.

    A text is told from a path by a brace, a `;` or a line break, or because it begins like one; in a text, what begins
    with a bracket is JSON.

    Raises:
        TinycError: `UnreadableFile`, or `InvalidPlan` for each problem in a text.
    """
    if source is None or isinstance(source, Plan | PlanTable):
        return source
    if is_object(source):
        return _from_mapping(source)
    if _is_path(source):
        return _from_bytes(_content(source), str(source))
    if isinstance(source, str | bytes):
        return _from_text(source, _IN_PLACE) if isinstance(source, str) else _from_bytes(source, _IN_PLACE)
    raise TinycError(
        "InvalidPlan",
        f"{type(source).__name__} is not a type of a plan; give a path, JSON or DSL text, a dictionary, or a Plan",
    )


def split_plan(source: object) -> tuple[Plan | PlanTable | None, Mapping[str, Any]]:
    """The plan that a source means, or None, and what it asks of the formation of regions: edges to fuse and to keep.

    Raises:
        TinycError: as `load_plan`.
    """
    loaded = load_plan(source)
    if not isinstance(loaded, PlanTable) or not loaded.fusion:
        return loaded, {}
    return (PlanTable(loaded.plans) if loaded.plans else None), loaded.fusion


def _content(source: str | os.PathLike[str]) -> bytes:
    """The bytes of a plan's file."""
    name = str(source)
    try:
        if isinstance(source, str) and len(name) > _LONGEST_PATH:
            raise TinycError("UnreadableFile", "cannot read the file", Where(file=f"{name[:40]}…"))
        return read_file(Path(source))
    except TinycError as error:
        message = f"{error.message}; give the path of a plan, or its text: {JSON_PLAN_EXAMPLE}; {DSL_PLAN_EXAMPLE}"
        raise TinycError(error.name, message, error.where) from None


def _is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    if not isinstance(source, str):
        return isinstance(source, os.PathLike)
    is_text = bool({"{", ";", "\n"} & set(source)) or _TEXT.match(source) is not None
    return bool(source.strip()) and not is_text


def _from_mapping(source: Mapping[Any, Any]) -> Plan | PlanTable:
    """The plan or table that a dictionary in the JSON form means; it has no places."""
    plans = {key: value.values() if isinstance(value, Plan) else value for key, value in source.items()}
    try:
        document = documents.read(plans)
    except TinycError as error:
        raise as_invalid_plan(error) from None
    return plan_of_json(document.value, {}, Where(file=_IN_PLACE))


def _from_bytes(data: bytes, filename: str) -> Plan | PlanTable:
    try:
        text = documents.decoded(data, filename)
    except TinycError as error:
        raise as_invalid_plan(error) from None
    return _from_text(text, filename)


def _from_text(text: str, filename: str) -> Plan | PlanTable:
    where, text = Where(file=filename), text.removeprefix("\ufeff")
    if not text.strip():
        raise TinycError("InvalidPlan", f"the plan is empty; {JSON_PLAN_EXAMPLE}; {DSL_PLAN_EXAMPLE}", where)
    if len(text) > MAX_CHARACTERS:
        message = f"the plan has {len(text)} characters, and may have {MAX_CHARACTERS}; plan fewer regions"
        raise TinycError("InvalidPlan", message, where)
    first = documents.first_character(text)
    is_json = filename.endswith(".json") or first in ("{", "[", "/", "")  # "/": an open comment
    return parse_plan_json(text, filename) if is_json else parse_plan_dsl(text, filename)
