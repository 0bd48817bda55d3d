"""The plan as a program of the DSL: `split m 128; bind m.o block.y; pipeline k.i stages=2; set arch = "sm80";`.

In: the text of a program. Out: a `Plan`, or all that is wrong with the text, each at its line and column; and back
(`to_text`). The parser knows the shape of each statement only, and hands what stands in it to `fields` to judge.

    program := stmt (';' stmt)* ';'?                    newlines are blanks, '#' starts a comment
    stmt    := 'split' axis int | 'reorder' axis+ | 'fuse' axis axis '->' axis | 'bind' axis target
             | 'pipeline' axis 'stages=' int | 'cache_read' tensor 'smem' 'at=' axis ('pingpong=' ('true' | 'false'))?
             | 'vectorize' axis int | 'unroll' axis int | 'predicate_tail' axis+ | 'epilogue' op+
             | 'algo_choice' key value | 'set' field '=' json

`pipeline k.i stages=2` gives the fields `pipeline` and `stages`; `split` is not `tile`, and neither is made of the
other. A program of comments alone is the plan without fields. What a statement cannot say, because a name in it is no
word or a list is empty, `set` says: every plan has a program. **Source:** 000 §1.7, §12.6.
"""

from collections.abc import Callable
from typing import Any

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.plan import json_text
from tinyc.plan.dsl_tokens import StatementReader, Token, Wrong, statements, without_comments
from tinyc.plan.fields import MOST_ERRORS, Plan, plan_of_values
from tinyc.plan.kinds import shown_value
from tinyc.plan.places import Lines, Places

DSL_PLAN_EXAMPLE = "a program looks like: split m 128; bind m.o block.y; pipeline k.i stages=2;"


def parse_plan_dsl(text: str, filename: str | None = None) -> Plan:
    """The plan that a program of the DSL makes.

    Raises:
        TinycError: `InvalidPlan`, one for each problem.
    """
    where = Where(file=filename)
    if not text.strip():
        raise TinycError("InvalidPlan", f"the text is empty; {DSL_PLAN_EXAMPLE}", where)
    program = _Program(text, where)
    for statement in statements(text):
        program.read(statement)
        if len(program.errors) >= MOST_ERRORS:
            break
    plan = Plan()
    try:
        plan = plan_of_values(program.values, program.places, where)
    except TinycError as error:
        program.errors += error.errors
    if program.errors:
        program.errors.sort(key=lambda error: (error.where.line or 0, error.where.column or 0))
        raise TinycError.several(program.errors[:MOST_ERRORS])
    return plan


class _Program:
    """The fields that the statements so far have given, where they stand, and what was wrong."""

    def __init__(self, text: str, where: Where) -> None:
        self.text, self.where, self.lines = text, where, Lines(text)
        self.values: dict[str, Any] = {}
        self.places: Places = {}
        self.errors: list[TinycError] = []
        self.whole: set[str] = set()  # the fields that take no further statement

    def read(self, tokens: list[Token]) -> None:
        """Read one statement."""
        statement = StatementReader(tokens)
        try:
            first = statement.word("a statement", reserved=True)
            if first.text not in _READERS:
                raise Wrong(first, f"there is no statement {shown_value(first.text)}{suggest(first.text, _READERS)}")
            _READERS[first.text](self, statement)
            statement.end()
        except Wrong as wrong:
            place = self.lines.place(wrong.token.start)
            self.errors.append(TinycError("InvalidPlan", wrong.message, Where(None, self.where.file, *place)))
        except TinycError as error:
            self.errors.append(error)

    def give(self, field: str, at: Token, value: object, parts: list[Token] | None = None) -> None:
        """Give a field its value; `parts` are the tokens of its entries."""
        if field in self.values:
            raise Wrong(at, f"{shown_value(field)} is given twice; remove one")
        self.whole.add(field)
        self.values[field] = value
        self.places[field,] = self.lines.place(at.start)
        for position, part in enumerate(parts or ()):
            self.places[field, position] = self.lines.place(part.start)

    def enter(self, field: str, key: Token, value: object) -> None:
        """Give a field one more entry by name."""
        entries = self.values.setdefault(field, {})
        if field in self.whole or key.text in entries:
            raise Wrong(key, f"{shown_value(field)} of {shown_value(key.text)} is given twice; remove one")
        entries[key.text] = value
        self.places[field, key.text] = self.lines.place(key.start)

    def append(self, field: str, at: Token, value: object, parts: dict[str | int, Token]) -> None:
        """Give a field one more entry at its end; `parts` are the tokens of the parts of the entry."""
        entries = self.values.setdefault(field, [])
        if field in self.whole:
            raise Wrong(at, f"{shown_value(field)} is given twice; remove one")
        path = (field, len(entries))
        entries.append(value)
        self.places[path] = self.lines.place(at.start)
        for key, part in parts.items():
            self.places[*path, key] = self.lines.place(part.start)

    def json(self, field: Token, tokens: list[Token]) -> Any:
        """The value of the JSON text that `tokens` cover, and keep the places of its parts."""
        start, stop = tokens[0].start, tokens[-1].start + len(tokens[-1].text)
        text = without_comments(self.text[start:stop])
        above, left = self.lines.place(start)

        def moved(line: int, column: int) -> tuple[int, int]:
            return line + above - 1, column + (left - 1 if line == 1 else 0)

        try:
            value, places = json_text.json_value(text, self.where)
        except TinycError as error:
            place = moved(error.where.line or 1, error.where.column or 1)
            raise TinycError("InvalidPlan", error.message, Where(None, self.where.file, *place)) from None
        self.places |= {(field.text, *path): moved(*place) for path, place in places.items() if path}
        return value


def _read_entry(
    field: str, value: Callable[[StatementReader], Any], key: str
) -> Callable[[_Program, StatementReader], None]:
    """The reader of a statement that gives a field an entry by name."""

    def read(program: _Program, statement: StatementReader) -> None:
        name = statement.word(key)
        program.enter(field, name, value(statement))

    return read


def _read_list(field: str, what: str) -> Callable[[_Program, StatementReader], None]:
    """The reader of a statement that gives a field its list of words."""

    def read(program: _Program, statement: StatementReader) -> None:
        words = statement.words(what)
        program.give(field, words[0], [word.text for word in words], words)

    return read


def _read_fuse(program: _Program, statement: StatementReader) -> None:
    outer, inner = statement.word("an axis"), statement.word("an axis")
    statement.mark("->")
    axes = [outer, inner, statement.word("an axis")]
    program.append("fuse", outer, [axis.text for axis in axes], dict(enumerate(axes)))


def _read_pipeline(program: _Program, statement: StatementReader) -> None:
    axis = statement.word("an axis")
    statement.mark("stages")
    statement.mark("=")
    at = statement.next
    stages = statement.number()
    program.give("pipeline", axis, axis.text)
    program.give("stages", at, stages)


def _read_cache(program: _Program, statement: StatementReader) -> None:
    parts: dict[str | int, Token] = {"tensor": statement.word("a tensor"), "where": statement.word("'smem'")}
    parts["at"] = statement.option("at", "an axis")
    entry: dict[str | int, Any] = {key: token.text for key, token in parts.items()}
    if statement.next.text == "pingpong":
        parts["pingpong"] = statement.option("pingpong", "true or false")
        entry["pingpong"] = {"true": True, "false": False}.get(parts["pingpong"].text, parts["pingpong"].text)
    program.append("cache", parts["tensor"], entry, parts)


def _read_vectorize(program: _Program, statement: StatementReader) -> None:
    axis = statement.word("an axis")
    program.give("vectorize", axis, {"axis": axis.text, "width": statement.number()})


def _read_set(program: _Program, statement: StatementReader) -> None:
    field = statement.word("a field", reserved=True)
    statement.mark("=")
    program.give(field.text, field, program.json(field, statement.rest("a JSON value")))


_READERS: dict[str, Callable[[_Program, StatementReader], None]] = {
    "split": _read_entry("split", StatementReader.number, "an axis"),
    "reorder": _read_list("order", "an axis"),
    "fuse": _read_fuse,
    "bind": _read_entry("bind", lambda statement: statement.word("a target").text, "an axis"),
    "pipeline": _read_pipeline,
    "cache_read": _read_cache,
    "vectorize": _read_vectorize,
    "unroll": _read_entry("unroll", StatementReader.number, "an axis"),
    "predicate_tail": _read_list("predicate_tail", "an axis"),
    "epilogue": _read_list("epilogue", "an op"),
    "algo_choice": _read_entry("algo_choice", lambda statement: statement.word("an algorithm").text, "a pattern"),
    "set": _read_set,
}
