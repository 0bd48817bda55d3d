"""What is not a contraction, and why: the code, the axes and rows concerned, and the sentence."""

import pytest

from analysis_programs.contraction_programs import SIZES, Sizes, product, windows_of
from tinyc.analysis.patterns.contraction import Reason, Rejected, detect_contraction
from tinyc.dialects.registry import context
from tinyc.expr.axes import Axis, term

both = pytest.mark.parametrize("sizes", [Sizes(SIZES), Sizes({})], ids=["concrete", "symbolic"])


def rejected(program) -> Rejected:
    with context():
        found = detect_contraction(program.last_reduce)
    assert isinstance(found, Rejected), found
    return found


def maximum(s):
    p = s.program(x="f64 M K", y="f64 M K")
    p.op("reduce", p.mul(p["x"], p["y"]), op="max", axes=(1,), element="f64")
    return p


def plain_sum(s):
    p = s.program(x="f64 M K")
    p.sum(p["x"], 1, element="f64")
    return p


def shared_product(s):
    p = s.program(x="f64 M K", y="f64 M K")
    total = p.mul(p["x"], p["y"])
    p.relu(total)
    p.sum(total, 1, element="f64")
    return p


def rounded_product(s):
    """A cast between the product and the sum rounds or widens each product: the sum is of other numbers."""
    p = s.program(x="f16 M K", y="f16 M K")
    p.sum(p.cast(p.mul(p["x"], p["y"]), element="f32"), 1)
    return p


def square(s):
    p = s.program(x="f64 M K")
    return product(p, (p["x"], "mk"), (p["x"], "mk"), "mk", "k")


def dot(s):
    p = s.program(x="f64 K", y="f64 K")
    return product(p, (p["x"], "k"), (p["y"], "k"), "k", "k")


def dot_of_rows(s):
    p = s.program(x="f64 M K", y="f64 M K")
    return product(p, (p["x"], "mk"), (p["y"], "mk"), "mk", "k")


def diagonal(s):
    p = s.program(x="f64 K K", y="f64 K N")
    along = p.view(p["x"], shape=s.shape("K"), map=(term(Axis(0)), term(Axis(0))))
    return product(p, (along, "k"), (p["y"], "kn"), "nk", "k")


def outer_product(s):
    p = s.program(x="f64 M", y="f64 N")
    return product(p, (p["x"], "m"), (p["y"], "n"), "mn", "")


def repeated_outer_product(s):
    """An outer product, times the number of times that it is repeated."""
    p = s.program(x="f64 M", y="f64 N")
    factors = [p.expand(p[x], shape=s.shape("M N 4"), broadcast_dimensions=at) for x, at in (("x", (0,)), ("y", (1,)))]
    p.sum(p.mul(*factors), 2, element="f64")
    return p


def repeated_product(s):
    p = s.program(A="f64 M K", B="f64 K N")
    factors = [
        p.expand(p[x], shape=s.shape("M N K 4"), broadcast_dimensions=at) for x, at in (("A", (0, 2)), ("B", (2, 1)))
    ]
    p.sum(p.mul(*factors), 2, 3, element="f64")
    return p


def one_operand_reduce(s):
    p = s.program(x="f64 M K T", y="f64 K N")
    return product(p, (p["x"], "mkt"), (p["y"], "kn"), "mnkt", "kt")


def flipped_k(s):
    p = s.program(A="f64 M K", B="f64 K N")
    return product(p, (p.flip(p["A"], axes=(1,)), "mk"), (p["B"], "kn"), "mnk", "k")


def flipped_windows(s):
    p = s.program(x="f64 B C X", w="f64 F C 3")
    x = windows_of(p, p.flip(p["x"], axes=(2,)), (3,), (1,), (1,), (0,))
    return product(p, (x, "bcxu"), (p["w"], "fcu"), "bfxcu", "cu")


def padded_with_one(s):
    p = s.program(x="f64 B C X", w="f64 F C 3")
    x = p.pad(p["x"], lo=(0, 0, 1), hi=(0, 0, 1), value=1.0)
    x = windows_of(p, x, (3,), (1,), (1,), (0,))
    return product(p, (x, "bcxu"), (p["w"], "fcu"), "bfxcu", "cu")


def masked_elsewhere(s):
    """A vector repeated, then padded along the axis of the repetition."""
    p = s.program(v="f64 K", B="f64 K N")
    rows = p.expand(p["v"], shape=s.shape("M K"), broadcast_dimensions=(1,))
    rows = p.pad(rows, lo=(1, 0), hi=(1, 0), value=0.0)
    return product(p, (rows, "mk"), (p["B"], "kn"), "mnk", "k")


def windows_in_both(s):
    p = s.program(x="f64 X", y="f64 Y")
    x, y = (windows_of(p, p[each], (3,), (1,), (1,), (0,)) for each in "xy")
    return product(p, (x, "mk"), (y, "nk"), "mnk", "k")


def overlapping_rows(s):
    """The windows of a sequence are rows, but no element of a window is summed."""
    p = s.program(x="f64 X K", w="f64 K N")
    x = windows_of(p, p.permute(p["x"], perm=(1, 0)), (3,), (1,), (1,), (0,))
    return product(p, (x, "kmu"), (p["w"], "kn"), "munk", "k")


def three_axes_in_a_row(s):
    """Windows of windows."""
    p = s.program(x="f64 X", w="f64 F 3 3")
    x = windows_of(p, p["x"], (3,), (1,), (1,), (0,))
    x = windows_of(p, p.permute(x, perm=(1, 0)), (3,), (1,), (1,), (0,))
    return product(p, (x, "umv"), (p["w"], "fuv"), "mfuv", "uv")


def unsplit_floors(s):
    """Rows of 6 read as rows of 9: neither is a part of the other."""
    p = s.program(A="f64 3*M 6", B="f64 9 N")
    return product(p, (p.reshape(p["A"], shape=s.shape("2*M 9")), "mk"), (p["B"], "kn"), "mnk", "k")


def unchained_floors(s):
    """One operand splits the merged axis by 4, the other by 6."""
    p = s.program(A="f64 3*B K 4", C="f64 2*B K 6")
    shape = s.shape("12*B K")
    a, c = (p.reshape(p.permute(p[x], perm=(0, 2, 1)), shape=shape) for x in "AC")
    b = p.expand(c, shape=s.shape("12*B N K"), broadcast_dimensions=(0, 2))
    return product(p, (a, "mk"), (b, "mnk"), "mnk", "k")


REJECTIONS = [
    (maximum, Reason.NOT_A_SUM, (), (), "the reduction is a max, not a sum"),
    (plain_sum, Reason.NO_PRODUCT, (), (), "the operand is not a product"),
    (rounded_product, Reason.NO_PRODUCT, (), (), "the operand is not a product"),
    (shared_product, Reason.SHARED_PRODUCT, (), (), "the product has other uses"),
    (square, Reason.SQUARE, (), (), "both operands are the same elements: a sum of squares"),
    (dot, Reason.DOT_PRODUCT, (), (), "neither operand has an axis of its own: a dot product"),
    (dot_of_rows, Reason.DOT_PRODUCT, (), (), "neither operand has an axis of its own: a dot product"),
    (
        diagonal,
        Reason.DIAGONAL,
        (1,),
        (("lhs", 0), ("lhs", 1)),
        "the left operand is read along a diagonal: i1 appears twice",
    ),
    (outer_product, Reason.OUTER_PRODUCT, (), (), "no axis is summed: an outer product"),
    (
        repeated_outer_product,
        Reason.OUTER_PRODUCT,
        (2,),
        (),
        "the summed axis i2 is in neither operand: an outer product",
    ),
    (repeated_product, Reason.NO_OPERAND_REDUCE, (3,), (), "the summed axis i3 is in neither operand"),
    (one_operand_reduce, Reason.ONE_OPERAND_REDUCE, (3,), (), "the summed axis i3 is in one operand"),
    (flipped_k, Reason.FLIPPED, (2,), (("lhs", 1),), "the left operand is read backwards (-i2 + "),
    (flipped_windows, Reason.FLIPPED, (2, 4), (("lhs", 2),), "the left operand is read backwards (-i2 - i4 + "),
    (padded_with_one, Reason.PAD_VALUE, (2, 4), (), "the left operand is padded with 1.0, not 0"),
    (
        masked_elsewhere,
        Reason.FOREIGN_MASK,
        (0,),
        (),
        "the left operand is masked along an axis that it is not read along",
    ),
    (windows_in_both, Reason.WINDOWS_IN_BOTH, (), (("lhs", 0), ("rhs", 0)), "both operands have windows"),
    (
        overlapping_rows,
        Reason.OVERLAPPING_ROW,
        (0, 1),
        (("lhs", 0),),
        "the index i0 + i1 is neither a window nor digits of one axis",
    ),
    (
        three_axes_in_a_row,
        Reason.OVERLAPPING_ROW,
        (0, 2, 3),
        (("lhs", 0),),
        "the index i0 + i2 + i3 is neither a window nor digits of one axis",
    ),
    (
        unsplit_floors,
        Reason.UNSPLIT_FLOOR,
        (0, 2),
        (("lhs", 0),),
        "the left operand's index (9*i0 + i2) floordiv 6 has a floor division",
    ),
    (
        unchained_floors,
        Reason.UNSPLIT_FLOOR,
        (0,),
        (("lhs", 0),),
        "the left operand's index i0 floordiv 4 has a floor division",
    ),
]


@both
@pytest.mark.parametrize(
    ("make", "code", "axes", "rows", "reason"), REJECTIONS, ids=[make.__name__ for make, *_ in REJECTIONS]
)
def test_rejected(make, code, axes, rows, reason, sizes):
    found = rejected(make(sizes))
    assert found.reason.startswith(reason)
    assert (found.code, found.axes, found.rows) == (code, axes, rows)


def test_a_product_that_is_moved_by_a_symbolic_stride():
    p = Sizes({}).program(x="f64 M*K", y="f64 M*K")
    p.sum(p.reshape(p.mul(p["x"], p["y"]), shape=Sizes({}).shape("M K")), 1, element="f64")
    assert rejected(p).code == Reason.NOT_AFFINE


def test_a_rejection_over_digits_speaks_of_the_axes_of_the_reduce():
    """Of the merged k, one part is in one operand."""
    sizes = Sizes(SIZES)
    p = sizes.program(A="f64 M H D", B="f64 D N")
    a = p.reshape(p.permute(p["A"], perm=(0, 2, 1)), shape=sizes.shape("M D*H"))
    b = p.expand(p["B"], shape=sizes.shape("D H N"), broadcast_dimensions=(0, 2))
    b = p.reshape(b, shape=sizes.shape("D*H N"))
    found = rejected(product(p, (a, "mk"), (b, "kn"), "mnk", "k"))
    assert (found.code, found.axes) == (Reason.ONE_OPERAND_REDUCE, (2,))
    assert found.reason == "the summed axis i2.1 is in one operand (where i2.0 < 4, i2.1 < 2)"
