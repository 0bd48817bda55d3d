"""The one printer of tables: aligned rows, the same bytes wherever they go to a file."""

import io

import pytest

from tinyc.text.table import Table, print_table

TABLE = Table(
    "edges [red]", ("edge", "bytes", "why"), (("a -> b", 12, "fits"), ("a -> long", 3, "[b]x[/b] :smile:")), "note"
)
TEXT = """\
edges [red]
edge       bytes  why
a -> b        12  fits
a -> long      3  [b]x[/b] :smile:
note"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_numbers_stand_to_the_right_and_nothing_is_markup():
    assert str(TABLE) == TEXT


@pytest.mark.parametrize(
    ("name", "value"), [("COLUMNS", "12"), ("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("TERM", "dumb")]
)
def test_a_file_gets_the_same_bytes_in_every_environment(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    assert str(TABLE) == TEXT


def test_a_terminal_gets_rows_as_wide_as_it_is(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    print_table(TABLE, stream)
    assert max(map(len, stream.getvalue().splitlines())) <= 20 + len("\x1b[1m\x1b[0m") * 5
    assert "fits" in stream.getvalue()


def test_what_is_no_printable_character_is_escaped():
    assert "\\x1b[31m" in str(Table("t", ("a",), (("\x1b[31mred",),)))


def test_a_float_has_four_digits_and_a_column_with_text_stands_to_the_left():
    table = Table("t", ("a", "b"), ((0.123456, 1), (1234.5, "-")))
    assert str(table).splitlines()[2:] == ["0.1235  1", "  1234  -"]


def test_a_table_without_rows_has_its_head():
    assert str(Table("t", ("a", "b"), ())) == "t\na  b"
