"""Several objects are loaded as one: they call each other, and what is local in one is not seen by the others."""

import ctypes

import pytest

from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_archive import archive_of
from tinyc.runtime.object_code import Code, ObjectError

#: Each has a local function and constants of names that the other has, too, and calls one of the other's.
ONE = """
@table = private constant [3 x double] [double 1.0, double 2.0, double 3.0]
define internal double @local(i64 %k) noinline {
  %place = getelementptr double, ptr @table, i64 %k
  %x = load double, ptr %place
  %y = fadd double %x, 0.5
  ret double %y
}
declare double @two(i64)
define double @one(i64 %k) {
  %x = call double @local(i64 %k)
  ret double %x
}
define double @both(i64 %k) {
  %x = call double @local(i64 %k)
  %y = call double @two(i64 %k)
  %z = fsub double %x, %y
  ret double %z
}
"""
TWO = """
@table = private constant [3 x double] [double 100.0, double 200.0, double 300.0]
define internal double @local(i64 %k) noinline {
  %place = getelementptr double, ptr @table, i64 %k
  %x = load double, ptr %place
  %y = fmul double %x, 0.125
  ret double %y
}
declare double @one(i64)
declare double @floor(double)
define double @two(i64 %k) {
  %x = call double @local(i64 %k)
  %y = call double @floor(double %x)
  ret double %y
}
define ptr @place_of_one() {
  ret ptr @one
}
define double @through_one(i64 %k) {
  %x = call double @one(i64 %k)
  ret double %x
}
"""
NAMES = ("one", "both", "two", "place_of_one", "through_one")


@pytest.fixture(scope="module", params=[(ONE, TWO), (TWO, ONE)], ids=["in order", "backwards"])
def code(request):
    return Code(archive_of([compile_object(each, "x86-64").image for each in request.param]), NAMES)


def test_each_has_its_own_constants_and_local_functions(code):
    values = {
        name: [ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(code.addresses[name])(k) for k in range(3)]
        for name in ("one", "two", "both", "through_one")
    }
    assert values["one"] == values["through_one"] == [1.5, 2.5, 3.5]
    assert values["two"] == [12, 25, 37]
    assert values["both"] == [1.5 - 12, 2.5 - 25, 3.5 - 37]


def test_an_address_is_that_of_the_other_object(code):
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(code.addresses["place_of_one"])() == code.addresses["one"]


def test_two_of_one_name_are_refused():
    one = compile_object(ONE).image
    with pytest.raises(ObjectError, match=r"^two objects of the machine code have 'one'$"):
        Code(archive_of([one, one, compile_object(TWO).image]), ["one"])


def test_what_neither_they_nor_the_c_library_have_is_refused():
    other = "define i64 @more() {\n  ret i64 3\n}"
    with pytest.raises(
        ObjectError, match=r"^the machine code calls 'two', and there are no symbols outside of it but "
    ):
        Code(archive_of([compile_object(each).image for each in (ONE, other)]), ["one"])


def test_a_local_function_is_none_that_others_see():
    with pytest.raises(ObjectError, match=r"^the machine code has no function local$"):
        Code(archive_of([compile_object(each).image for each in (ONE, TWO)]), ["local"])


def test_an_archive_that_is_damaged_is_refused():
    whole = archive_of([compile_object(each).image for each in (ONE, TWO)])
    for end in range(8, len(whole), 101):
        with pytest.raises(ObjectError, match=r"^the machine code "):
            Code(whole[:end], ["one", "two"])
