"""Every product that the detection of contractions knows, as a small Tiny function.

Each function here takes `Sizes`, which says what the symbols in shapes stand for (themselves, or numbers), and returns
a program whose last reduce is the product. Sizes of kernels and strides are always numbers.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from analysis_programs.tiny_programs import Program, tensor
from tinyc.dialects.registry import context
from tinyc.expr.extents import Dim
from tinyc.vocabulary.attributes import tensor_type

#: What the symbols are in programs with concrete sizes.
SIZES = {"B": 2, "M": 5, "N": 3, "K": 4, "S": 6, "T": 7, "H": 2, "G": 2, "R": 3, "D": 4, "C": 3, "F": 5, "Y": 8, "X": 9}
#: The same with sides of several loops that fill micro-kernels, and do not divide by them.
LONG_SIZES = SIZES | {"M": 37, "N": 45, "K": 20, "S": 33, "T": 34, "C": 20, "F": 34, "Y": 9, "X": 21}


class Sizes:
    """Writes extents: a symbol that has a number here as the number."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers

    def __call__(self, text: str) -> str:
        return re.sub(r"\b[A-Z]\b", lambda match: str(self.numbers.get(match[0], match[0])), text)

    def program(self, **arguments: str) -> Program:
        """Return a program with arguments such as ``A="f64 M K"``."""
        return Program(**{name: self(text) for name, text in arguments.items()})

    def shape(self, text: str) -> tuple[Dim, ...]:
        return tensor(f"f64 {self(text)}").shape


def shape_of(value: Any) -> tuple[Dim, ...]:
    with context():
        return tensor_type(value.type).shape


def product(p: Program, lhs: tuple[Any, str], rhs: tuple[Any, str], joint: str, summed: str) -> Program:
    """Multiply and sum, by letters as in einsum: ``product(p, (a, "mk"), (b, "kn"), "mnk", "k")``."""
    sizes: dict[str, Dim] = {}
    for value, letters in (lhs, rhs):
        sizes |= dict(zip(letters, shape_of(value), strict=True))
    shape = tuple(sizes[letter] for letter in joint)
    factors = [p.expand(v, shape=shape, broadcast_dimensions=tuple(map(joint.index, at))) for v, at in (lhs, rhs)]
    total = p.sum(p.mul(*factors), *(joint.index(letter) for letter in summed), element="f64")
    return p.result(total)


def plain(s: Sizes) -> Program:
    p = s.program(A="f64 M K", B="f64 K N")
    return product(p, (p["A"], "mk"), (p["B"], "kn"), "mnk", "k")


def axis_order_of_002(s: Sizes) -> Program:
    p = s.program(X="f64 M K", W="f64 K N")
    x = p.reshape(p["X"], shape=s.shape("M 1 K"))
    w = p.permute(p.reshape(p["W"], shape=s.shape("1 K N")), perm=(0, 2, 1))
    x, w = (p.expand(each, shape=s.shape("M N K"), broadcast_dimensions=(0, 1, 2)) for each in (x, w))
    return p.result(p.sum(p.mul(x, w), 2, element="f64"))


def transposed_a(s: Sizes) -> Program:
    p = s.program(A="f64 K M", B="f64 K N")
    return product(p, (p.permute(p["A"], perm=(1, 0)), "mk"), (p["B"], "kn"), "mnk", "k")


def transposed_b(s: Sizes) -> Program:
    p = s.program(A="f64 M K", B="f64 N K")
    return product(p, (p["A"], "mk"), (p["B"], "nk"), "mnk", "k")


def batched(s: Sizes) -> Program:
    p = s.program(A="f64 B M K", B="f64 B K N")
    return product(p, (p["A"], "bmk"), (p["B"], "bkn"), "bmnk", "k")


def broadcast_weight(s: Sizes) -> Program:
    p = s.program(A="f64 B M K", B="f64 K N")
    return product(p, (p["A"], "bmk"), (p["B"], "kn"), "bmnk", "k")


def several_k(s: Sizes) -> Program:
    p = s.program(A="f64 M H D", B="f64 H D N")
    return product(p, (p["A"], "mhd"), (p["B"], "hdn"), "mnhd", "hd")


def k_first(s: Sizes) -> Program:
    p = s.program(A="f64 M K", B="f64 K N")
    return product(p, (p["A"], "mk"), (p["B"], "kn"), "kmn", "k")


def merged_k(s: Sizes) -> Program:
    """The output projection of attention: the heads are merged into k after a permute."""
    p = s.program(A="f64 B H S D", W="f64 H*D N")
    a = p.reshape(p.permute(p["A"], perm=(0, 2, 1, 3)), shape=s.shape("B S H*D"))
    return product(p, (a, "bsk"), (p["W"], "kn"), "bsnk", "k")


def moved_product(s: Sizes) -> Program:
    """The product is moved before it is summed."""
    p = s.program(A="f64 M K", B="f64 K N")
    shape = s.shape("M K N")
    factors = [p.expand(p[x], shape=shape, broadcast_dimensions=at) for x, at in (("A", (0, 1)), ("B", (1, 2)))]
    return p.result(p.sum(p.permute(p.mul(*factors), perm=(2, 1, 0)), 1, element="f64"))


def broadcast_result(s: Sizes) -> Program:
    """The result is the same along an axis that neither operand has."""
    p = s.program(A="f64 M K", B="f64 K N", t="f64 T")
    factors = [
        p.expand(p[x], shape=s.shape("M T N K"), broadcast_dimensions=at) for x, at in (("A", (0, 3)), ("B", (3, 2)))
    ]
    return p.result(p.sum(p.mul(*factors), 3, element="f64"))


def merged_linear(s: Sizes) -> Program:
    """A linear layer over the merged axes B and S."""
    p = s.program(x="f64 B S K", w="f64 N K")
    return product(p, (p.reshape(p["x"], shape=s.shape("B*S K")), "mk"), (p["w"], "nk"), "mnk", "k")


def scores(s: Sizes) -> Program:
    p = s.program(q="f64 B H S D", k="f64 B H T D")
    return product(p, (p["q"], "bhsd"), (p["k"], "bhtd"), "bhstd", "d")


def heads(p: Program, s: Sizes, value: Any, rows: str) -> Any:
    """Return ``[B, rows, H*D]`` as ``[B, H, rows, D]``."""
    return p.permute(p.reshape(value, shape=s.shape(f"B {rows} H D")), perm=(0, 2, 1, 3))


def scores_of_merged_heads(s: Sizes) -> Program:
    p = s.program(q="f64 B S H*D", k="f64 B T H*D", sizes="f64 H D")
    return product(p, (heads(p, s, p["q"], "S"), "bhsd"), (heads(p, s, p["k"], "T"), "bhtd"), "bhstd", "d")


def scores_of_merged_batches(s: Sizes) -> Program:
    """B and H merged to one batch axis."""
    p = s.program(q="f64 B S H*D", k="f64 B T H*D", sizes="f64 H D")
    q, k = (p.reshape(heads(p, s, p[x], r), shape=s.shape(f"B*H {r} D")) for x, r in (("q", "S"), ("k", "T")))
    return product(p, (q, "bsd"), (k, "btd"), "bstd", "d")


def scores_of_one_projection(s: Sizes) -> Program:
    """q and k are parts of one tensor ``[B, S, 3*H*D]``."""
    p = s.program(qkv="f64 B S 3*H*D", sizes="f64 H D")
    width, (batch, rows) = s.shape("H*D")[0], s.shape("B S")
    parts = [
        p.shrink(p["qkv"], lo=(0, 0, width * k), hi=(batch, rows, width * (k + 1)), step=(1, 1, 1)) for k in (0, 1)
    ]
    q, k = (heads(p, s, part, "S") for part in parts)
    return product(p, (q, "bhsd"), (k, "bhtd"), "bhstd", "d")


def grouped_query(s: Sizes) -> Program:
    """GQA: R query heads to each of the G heads of the keys."""
    p = s.program(q="f64 B G*R S D", k="f64 B G T D")
    q = p.reshape(p["q"], shape=s.shape("B G R S D"))
    return product(p, (q, "bgrsd"), (p["k"], "bgtd"), "bgrstd", "d")


def repeated_heads(s: Sizes) -> Program:
    """GQA as most programs write it: the keys are repeated for each query head."""
    p = s.program(q="f64 B G*R S D", k="f64 B G T D")
    k = p.expand(p["k"], shape=s.shape("B G R T D"), broadcast_dimensions=(0, 1, 3, 4))
    k = p.reshape(k, shape=s.shape("B G*R T D"))
    return product(p, (p["q"], "bhsd"), (k, "bhtd"), "bhstd", "d")


def weighted_values(s: Sizes) -> Program:
    """PV."""
    p = s.program(p="f64 B H S T", v="f64 B H T D")
    return product(p, (p["p"], "bhst"), (p["v"], "bhtd"), "bhsdt", "t")


def gram(s: Sizes) -> Program:
    p = s.program(x="f64 M K")
    return product(p, (p["x"], "mk"), (p["x"], "nk"), "mnk", "k")


def matrix_vector(s: Sizes) -> Program:
    p = s.program(A="f64 M K", v="f64 K")
    return product(p, (p["A"], "mk"), (p["v"], "k"), "mk", "k")


def vector_matrix(s: Sizes) -> Program:
    p = s.program(v="f64 B K", A="f64 B K N")
    return product(p, (p["v"], "bk"), (p["A"], "bkn"), "bnk", "k")


# --- convolutions -----------------------------------------------------------------------------------------------------


def windows_of(
    p: Program, x: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int], pad: Sequence[int]
) -> Any:
    """Return ``[…, Y, X]`` padded with zeros and seen as ``[…, OY, OX, KY, KX]``."""
    margin = (0,) * (len(shape_of(x)) - len(kernel)) + tuple(pad)
    padded = p.pad(x, lo=margin, hi=margin, value=0.0) if any(pad) else x
    return p.pool(padded, kernel=tuple(kernel), stride=tuple(stride), dilation=tuple(dilation))


def _conv(s: Sizes, kernel: int, stride=(1, 1), dilation=(1, 1), pad=(0, 0)) -> Program:
    p = s.program(x="f64 B C Y X", w=f"f64 F C {kernel} {kernel}")
    x = windows_of(p, p["x"], (kernel, kernel), stride, dilation, pad)
    return product(p, (x, "bcyxuv"), (p["w"], "fcuv"), "bfyxcuv", "cuv")


def conv_nchw(s: Sizes) -> Program:
    return _conv(s, 3, pad=(1, 1))


def conv_strided_dilated(s: Sizes) -> Program:
    """Another stride, dilation and pad along each axis."""
    return _conv(s, 3, stride=(2, 1), dilation=(1, 2), pad=(1, 2))


def conv_1x1(s: Sizes) -> Program:
    return _conv(s, 1)


def conv_1x1_strided(s: Sizes) -> Program:
    return _conv(s, 1, stride=(2, 2))


def conv_1x1_padded(s: Sizes) -> Program:
    return _conv(s, 1, pad=(1, 0))


def patch_embedding(s: Sizes) -> Program:
    return _conv(s, 2, stride=(2, 2))


def conv_weight_first(s: Sizes) -> Program:
    p = s.program(w="f64 F C 3", x="f64 B C X")
    x = windows_of(p, p["x"], (3,), (2,), (1,), (1,))
    return product(p, (p["w"], "fcu"), (x, "bcxu"), "bfxcu", "cu")


def conv_reversed(s: Sizes) -> Program:
    """A convolution in the sense of mathematics."""
    p = s.program(x="f64 B C X", w="f64 F C 3")
    x = windows_of(p, p["x"], (3,), (1,), (1,), (0,))
    return product(p, (x, "bcxu"), (p.flip(p["w"], axes=(2,)), "fcu"), "bfxcu", "cu")


def conv_transposed(s: Sizes) -> Program:
    """A transposed convolution with a stride of 2: two phases of two taps, of three that there are."""
    p = s.program(x="f64 B C X", w="f64 F C 3")
    x = windows_of(p, p["x"], (2,), (1,), (1,), (1,))
    w = p.pad(p["w"], lo=(0, 0, 0), hi=(0, 0, 1), value=0.0)
    w = p.flip(p.reshape(w, shape=(*s.shape("F C"), 2, 2)), axes=(2,))
    return product(p, (x, "bcxt"), (w, "fctr"), "brfxct", "ct")


def conv_nhwc(s: Sizes) -> Program:
    p = s.program(x="f64 B Y X C", w="f64 F 3 3 C")
    x = windows_of(p, p.permute(p["x"], perm=(0, 3, 1, 2)), (3, 3), (2, 2), (2, 2), (1, 1))
    return product(p, (x, "bcyxuv"), (p["w"], "fuvc"), "byxfuvc", "uvc")


def conv_grouped(s: Sizes) -> Program:
    p = s.program(x="f64 B G*C Y X", w="f64 G*F C 3 3")
    x = p.reshape(p["x"], shape=s.shape("B G C Y X"))
    w = p.reshape(p["w"], shape=s.shape("G F C 3 3"))
    x = windows_of(p, x, (3, 3), (1, 1), (1, 1), (1, 1))
    return product(p, (x, "bgcyxuv"), (w, "gfcuv"), "bgfyxcuv", "cuv")


def conv_depthwise(s: Sizes) -> Program:
    p = s.program(x="f64 B C Y X", w="f64 C 3 3")
    x = windows_of(p, p["x"], (3, 3), (1, 1), (1, 1), (1, 1))
    return product(p, (x, "bcyxuv"), (p["w"], "cuv"), "bcyxuv", "uv")


def conv_depthwise_of_one_image(s: Sizes) -> Program:
    p = s.program(x="f64 1 C Y X", w="f64 C 3 3")
    x = windows_of(p, p["x"], (3, 3), (1, 1), (1, 1), (0, 0))
    return product(p, (x, "bcyxuv"), (p["w"], "cuv"), "bcyxuv", "uv")


def conv_depthwise_multiplier(s: Sizes) -> Program:
    p = s.program(x="f64 B C Y X", w="f64 C R 3 3")
    x = windows_of(p, p["x"], (3, 3), (1, 1), (1, 1), (0, 0))
    return product(p, (x, "bcyxuv"), (p["w"], "cruv"), "bcryxuv", "uv")


def conv_im2col(s: Sizes) -> Program:
    """The windows merged to a matrix ``[B*OY*OX, C*9]`` before the product."""
    p = s.program(x="f64 B C Y X", w="f64 F C*9")
    x = p.permute(windows_of(p, p["x"], (3, 3), (1, 1), (1, 1), (1, 1)), perm=(0, 2, 3, 1, 4, 5))
    x = p.reshape(x, shape=s.shape("B*Y*X C*9"))
    return product(p, (x, "mk"), (p["w"], "fk"), "mfk", "k")


def patchify_linear(s: Sizes) -> Program:
    """Patches of 4 × 4 by reshapes, merged to the rows of a matrix, and a linear layer (a vision transformer)."""
    p = s.program(x="f64 B C 4*Y 4*X", w="f64 F C*16")
    x = p.reshape(p["x"], shape=s.shape("B C Y 4 X 4"))
    x = p.reshape(p.permute(x, perm=(0, 2, 4, 1, 3, 5)), shape=s.shape("B Y*X C*16"))
    return product(p, (x, "bsk"), (p["w"], "fk"), "bsfk", "k")


#: All of them by their names.
CONTRACTIONS = {
    name: make
    for name, make in dict(globals()).items()
    if inspect.isfunction(make) and not name.startswith("_") and list(inspect.signature(make).parameters) == ["s"]
}
