"""The counters of a launch as tables: what they say, and how they are aligned."""

from collections import Counter

from ptxsim import Counters
from ptxsim.counters import CounterTable, LineCount, counter_tables


def test_numbers_are_aligned_to_the_right_and_text_to_the_left():
    table = CounterTable("title", ("name", "count", "share"), (("a", 1000, 0.5), ("long name", 7, 12.345)))
    assert str(table).splitlines() == [
        "title",
        "  name       count  share",
        "  a           1000   0.50",
        "  long name      7  12.35",
    ]


def test_a_line_is_told_by_its_text_where_there_is_one_and_by_its_opcode_otherwise():
    counters = Counters(sectors={2: LineCount("ld", 4, 32, 16)})
    for lines, told in (((), "ld"), (("ret;", "\tld.global.b32  %r1, [%d0];"), "ld.global.b32 %r1, [%d0];")):
        (table,) = counter_tables(counters, lines)
        assert table.rows == ((2, 4, 32, 8.0, 16, told),)
        assert table.columns == ("line", "requests", "sectors", "per request", "avoidable", "instruction")


def test_a_line_that_is_longer_than_a_table_bears_is_cut():
    (table,) = counter_tables(Counters(passes={1: LineCount("st", 1, 1, 1)}), ("x" * 500,))
    assert table.rows[0][-1] == "x" * 60 + "…"


def test_opcodes_are_in_the_order_of_their_counts():
    (table,) = counter_tables(Counters(Counter({"add": 2, "ld": 9, "bar": 2})))
    assert table.rows == (("ld", 9), ("add", 2), ("bar", 2))


def test_all_counters_as_text():
    counters = Counters(
        read=Counter({("global", 16): 512}),
        written=Counter({("global", 4): 128}),
        barriers=2,
        fences=Counter({"fence.sc": 3}),
    )
    bytes_table, fences = str(counters).split("\n\n")
    assert bytes_table.splitlines()[1:] == [
        "  space   width  read  written",
        "  global      4     0      128",
        "  global     16   512        0",
    ]
    assert [line.split() for line in fences.splitlines()[2:]] == [
        ["barriers", "of", "CTAs", "completed", "2"],
        ["fence.sc", "3"],
    ]


def test_nothing_counted_is_no_table():
    assert counter_tables(Counters()) == []
