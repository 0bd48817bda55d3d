"""What `printf` prints for a format and a buffer: as C does."""

import struct

import pytest

from ptxsim.instructions.printf_text import argument_count, printed_text


def printed(form, layout="", *values, texts=None):
    """The text for values that `struct` lays out as a compiler does."""
    buffer = struct.pack(f"@{layout}", *values)
    return printed_text(form, lambda offset, size: buffer[offset : offset + size], (texts or {}).get)


@pytest.mark.parametrize(
    ("form", "layout", "values", "expected"),
    [
        ("100%%\n", "", (), "100%\n"),
        ("%d|%i|%u", "iii", (-5, 7, -1), "-5|7|4294967295"),
        ("%5d|%-5d|%05d|%+d|% d", "iiiii", (1, 2, 3, 4, 5), "    1|2    |00003|+4| 5"),
        ("%.3d|%x|%X|%#x|%o|%#o", "iiiiii", (5, 255, 255, 255, 8, 8), "005|ff|FF|0xff|10|010"),
        ("%#x", "i", (0,), "0"),
        ("%d %lld %d %lu", "iqiQ", (1, -(2**40), 3, 2**64 - 1), "1 -1099511627776 3 18446744073709551615"),
        ("%zu %hhd %hu", "Qii", (9, 0x1FF, 0x12345), "9 -1 9029"),
        ("%f|%.2f|%8.3f|%e|%g", "ddddd", (1.5, 2.345, 3.0, 1e10, 1e-7), "1.500000|2.35|   3.000|1.000000e+10|1e-07"),
        ("%d %f %F", "idd", (1, float("inf"), float("nan")), "1 inf NAN"),
        ("%a %A", "dd", (1.5, 1.0), "0x1.8p+0 0X1P+0"),
        ("%c%c|%3c", "iii", (72, 105, 33), "Hi|  !"),
        ("%*d|%-*d|%.*f", "iiiiid", (4, 1, 4, 2, 1, 2.25), "   1|2   |2.2"),
        ("%*d|", "ii", (-4, 1), "1   |"),
        ("%p %s", "QQ", (0x7000, 16), "0x7000 text"),
        ("%6s|%.2s|%s", "QQQ", (16, 16, 1), "  text|te|(null)"),
        ("%y %", "", (), "%y %"),
    ],
)
def test_a_format_prints_what_c_prints(form, layout, values, expected):
    assert printed(form, layout, *values, texts={16: "text"}) == expected


def test_what_takes_an_argument_is_counted():
    assert [argument_count(form) for form in ("", "%%", "%d%% %5.2f", "%-*d %lld")] == [0, 0, 2, 2]
