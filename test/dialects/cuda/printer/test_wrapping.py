"""Long lines of C++: broken behind commas."""

from tinyc.dialects.cuda.printer.wrapping import WIDTH, wrapped


def test_a_long_line_is_broken_in_as_few_brackets_as_possible():
    first, second, third = (f"{name}<2, 64>({name * 30}, {name * 30})" for name in "abc")
    assert wrapped([f"  f({first}, g({second}, {third}));"]) == [
        f"  f({first},",
        f"      g({second},",
        f"          {third}));",
    ]


def test_short_lines_comments_and_lines_without_a_comma_stay():
    lines = ["  f(a, b);", f"// {'a, ' * WIDTH}", f"  x = {'a + ' * WIDTH}b;"]
    assert wrapped(lines) == lines


def test_where_no_comma_fits_the_first_is_taken():
    long = "a" * WIDTH
    assert wrapped([f"f({long}, {long}, b);"]) == [f"f({long},", f"    {long},", "    b);"]
