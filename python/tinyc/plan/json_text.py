"""The plan as JSON: `{"tile": [64, 64, 32], "stages": 2}`, or a table `{"<region key>": {…}, …}`.

In: JSON text, with comments and trailing commas. Out: a `Plan` or a `PlanTable`, or all that is wrong with the text,
each at its line and column; and back. Equal plans are written as equal text.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.importers import json_text
from tinyc.plan.fields import MOST_ERRORS, Plan, located_problem, plan_of_values
from tinyc.plan.kinds import is_object, shown_value
from tinyc.plan.places import Places, places_of
from tinyc.plan.table import FUSION, FUSION_KEY, PlanTable, is_region_key, is_table

JSON_PLAN_EXAMPLE = 'a plan looks like {"tile": [64, 64, 32], "stages": 2}'


def parse_plan_json(text: str, filename: str | None = None) -> Plan | PlanTable:
    """The plan or the table that a JSON text holds.

    Raises:
        TinycError: `InvalidPlan`, one for each problem.
    """
    where = Where(file=filename)
    return plan_of_json(*json_value(text, where), where)


def plan_of_json(values: object, places: Places, where: Where) -> Plan | PlanTable:
    """The plan or the table that a JSON value means, whose parts stand at `places`.

    Raises:
        TinycError: `InvalidPlan`, one for each problem.
    """
    if not is_object(values) or not is_table(values):
        return plan_of_values(values, places, where)
    return _table(values, places, where)


def plan_to_json(plan: Plan | PlanTable) -> str:
    """The JSON text of a plan or a table, a field on a line."""
    if isinstance(plan, Plan):
        return _object(plan, "") + "\n"
    asked = [f'  "{FUSION_KEY}": {json.dumps(dict(plan.fusion), ensure_ascii=False)}'] if plan.fusion else []
    entries = asked + [f'  "{key}": {_object(plan.plans[key], "  ")}' for key in sorted(plan.plans)]
    return "{\n" + ",\n".join(entries) + "\n}\n" if entries else "{}\n"


def json_value(text: str, where: Where) -> tuple[Any, Places]:
    """The value that a JSON text means, and the places of its parts.

    Raises:
        TinycError: `InvalidPlan` with line and column.
    """
    if not text.strip():
        raise TinycError("InvalidPlan", f"the text is empty; {JSON_PLAN_EXAMPLE}", where)
    places = places_of(text, where)
    try:
        return json_text.read(text, where.file).value, places
    except TinycError as error:
        raise as_invalid_plan(error.at(where)) from None


def as_invalid_plan(error: TinycError) -> TinycError:
    """The error of a plan that is not JSON."""
    return TinycError("InvalidPlan", error.message, error.where)


def _table(values: Mapping[Any, Any], places: Places, where: Where) -> PlanTable:
    """A table; the key of the region stands in each error of its plan."""
    below: dict[str | int, Places] = {key: {} for key in values}
    for path, place in places.items():
        if path:
            below[path[0]][path[1:]] = place
    plans: dict[str, Plan] = {}
    errors: list[TinycError] = []
    for key, fields in values.items():
        line, column = below[key].get((), (None, None))
        at = Where(key if is_region_key(key) else None, where.file, line, column)
        try:
            if key == FUSION_KEY:
                problems = itertools.islice(FUSION.problems(fields, (FUSION_KEY,)), MOST_ERRORS)
                errors += [located_problem(problem, places, where) for problem in problems]
                continue
            if not is_region_key(key):
                message = f"{shown_value(key)} is not a region key; a table has region keys and '{FUSION_KEY}' only"
                raise TinycError("InvalidPlan", message, at)
            plans[key] = plan_of_values(fields, below[key], at)
        except TinycError as error:
            errors += error.errors
        if len(errors) > MOST_ERRORS:
            break
    if errors:
        raise TinycError.several(errors[:MOST_ERRORS])
    return PlanTable(plans, values.get(FUSION_KEY, {}))


def _object(plan: Plan, indent: str) -> str:
    fields = [f'{indent}  "{name}": {json.dumps(each, ensure_ascii=False)}' for name, each in plan.values().items()]
    return "{\n" + ",\n".join(fields) + f"\n{indent}}}" if fields else "{}"
