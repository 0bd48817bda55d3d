"""Names with numbers, numbered again."""

from tinyc.dialects.cuda.printer.numbering import numbered_again


def test_names_have_the_numbers_in_their_order():
    lines = ["int64_t at7[2];", "const int64_t at3 = at7[0];", "const uint32_t tile4 = f(at3);", "g(at7, tile4);"]
    assert numbered_again(lines) == [
        "int64_t at0[2];",
        "const int64_t at1 = at0[0];",
        "const uint32_t tile = f(at1);",
        "g(at0, tile);",
    ]


def test_a_name_that_is_there_is_not_given():
    assert numbered_again(["int64_t at3 = at;"]) == ["int64_t at0 = at;"]
    assert numbered_again(["int64_t at3 = at + at0;"]) == ["int64_t at3 = at + at0;"]
