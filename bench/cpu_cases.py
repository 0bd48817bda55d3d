"""What `cpu.py` measures: programs in groups, each with the same in torch, and the work that its speed is counted in.

In: nothing. Out: `Group`s of `Case`s. Products are Tiny programs, which numpy computes as well if they are of f32; all
else is ONNX.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

from gemm_cases import KINDS, LAYOUTS, Product
from workloads.graph import Graph

Arrays = Mapping[str, np.ndarray]
#: The module `torch`, and its tensors.
Torch = Any

CUBES = (256, 512, 1024, 2048)
#: Rows of a product with a matrix of `SIDE` × `SIDE`.
ROWS = (1, 4, 16)
SIDE = 4096
#: Of ResNet-50, each once: input and output channels, side of the kernel, stride, side of the image.
RESNET_50 = (
    *((3, 64, 7, 2, 224), (64, 64, 1, 1, 56), (64, 64, 3, 1, 56), (64, 256, 1, 1, 56), (256, 64, 1, 1, 56)),
    *((256, 128, 1, 1, 56), (128, 128, 3, 2, 56), (256, 512, 1, 2, 56), (128, 512, 1, 1, 28), (512, 128, 1, 1, 28)),
    *((128, 128, 3, 1, 28), (512, 256, 1, 1, 28), (256, 256, 3, 2, 28), (512, 1024, 1, 2, 28), (256, 1024, 1, 1, 14)),
    *((1024, 256, 1, 1, 14), (256, 256, 3, 1, 14), (1024, 512, 1, 1, 14), (512, 512, 3, 2, 14)),
    *((1024, 2048, 1, 2, 14), (512, 2048, 1, 1, 7), (2048, 512, 1, 1, 7), (512, 512, 3, 1, 7)),
)
#: Depthwise, of MobileNet-v2: channels, stride, side of the image.
MOBILENET = (
    *((32, 1, 112), (96, 2, 112), (144, 1, 56), (144, 2, 56), (192, 1, 28), (192, 2, 28)),
    *((384, 1, 14), (576, 1, 14), (576, 2, 14), (960, 1, 7)),
)
LENGTHS = (128, 512, 1024, 4096)


@dataclass(frozen=True)
class Case:
    """A program, its inputs and weights, and the same in torch, from tensors to a tensor.

    Where `in_numpy` says how, numpy computes it as well, and all write into memory that is there already. Where there
    is a model `in_onnxruntime`, ONNX Runtime computes it as well. Where it `is_compiled`, torch.compile's function
    counts as a library of its own. A program `alone`, which is less than the case or has no `plan`, has the place of
    the libraries: its time counts, of its numbers nothing is asked. Results may be off by `tolerance` of the largest
    element. Weights are those of `arrays` that the program has, and no input for.
    """

    name: str
    program: Any
    arrays: Arrays
    work: float
    in_torch: Callable[..., Any]
    in_numpy: Callable[..., np.ndarray] | None = None
    in_onnxruntime: onnx.ModelProto | None = None
    tolerance: float = 1e-4
    is_compiled: bool = False
    alone: Any = None
    plan: Any = None


@dataclass(frozen=True)
class Group:
    """Cases of one kind, made one by one: `unit` is that of work in a nanosecond.

    The rest is what is asked of the ratios together, and of each.
    """

    name: str
    unit: str
    cases: Callable[[], Iterator[Case]]
    geometric_mean: float | None = None
    worst: float | None = None


def groups() -> list[Group]:
    """All that is measured."""
    return [
        Group("f32 products", "GFLOP/s", partial(_products, "tf32"), geometric_mean=1.0, worst=0.8),
        Group("bf16 products", "GFLOP/s", _narrow_products, geometric_mean=0.8),
        Group("int8 products", "GFLOP/s", _integer_products, geometric_mean=0.8),
        Group("products with bias and GELU, beside the product alone", "GFLOP/s", _epilogues, worst=0.95),
        Group("convolutions", "GFLOP/s", _convolutions, geometric_mean=0.9),
        Group("convolutions by Winograd's algorithm, beside the implicit GEMM", "GFLOP/s", _by_winograd),
        Group("rows and elements, f32", "GB/s", partial(_rows, "float"), worst=1.0),
        Group("rows and elements, bf16", "GB/s", partial(_rows, "bfloat16"), worst=1.0),
        Group("attention", "GFLOP/s", _attention, geometric_mean=1.0),
        Group("scans, pools and choices", "GB/s", _others, geometric_mean=1.0),
    ]


# --- products ---------------------------------------------------------------------------------------------------------


def _products(kind: str) -> Iterator[Case]:
    """Cubes in all layouts, products of few rows, and many small ones; `tf32` is f32: a CPU rounds nothing."""
    yield from (_product(Product(n, n, n, kind, layout)) for n in CUBES for layout in LAYOUTS)
    yield from (_product(Product(m, SIDE, SIDE, kind)) for m in ROWS)
    yield _batched(64, 128, 128, 64, kind)


def _product(product: Product) -> Case:
    moved = product.layout[0] == "t", product.layout[1] == "t"

    def in_numpy(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        left, right = (each.T if is_moved else each for each, is_moved in zip((a, b), moved, strict=True))
        return np.matmul(left, right, out=out)

    def in_torch(torch: Torch, a: Torch, b: Torch, out: Torch = None) -> Torch:
        left, right = (each.mT if is_moved else each for each, is_moved in zip((a, b), moved, strict=True))
        return torch.matmul(left, right, out=out)

    arrays = {name: _normal(shape) for name, shape in product.shapes.items()}
    name = f"{product.m} × {product.n} × {product.k}, {product.layout}"
    return Case(name, product.program, arrays, product.flops, in_torch, in_numpy)


def _batched(batch: int, m: int, n: int, k: int, kind: str) -> Case:
    graph, types = Graph(), KINDS[kind]
    shapes, space = {"a": (batch, m, k), "b": (batch, k, n)}, (batch, m, n, k)
    a, b = (graph.input(name, types.operand, *shape) for name, shape in shapes.items())
    c = a.expand(space, 0, 1, 3) * b.permute(0, 2, 1).expand(space, 0, 2, 3)
    program = graph.program(c.reduce("SUM", 3, dtype=types.accumulator).to(types.output))

    def in_torch(torch: Torch, a: Torch, b: Torch, out: Torch = None) -> Torch:
        return torch.matmul(a, b, out=out)

    arrays = {name: _normal(shape) for name, shape in shapes.items()}
    return Case(f"{batch} of {m} × {n} × {k}", program, arrays, 2 * batch * m * n * k, in_torch, np.matmul)


def _narrow_products() -> Iterator[Case]:
    """The same of bf16, which numpy does not multiply."""
    for case in _products("bf16"):
        arrays = {name: array.astype(ml_dtypes.bfloat16) for name, array in case.arrays.items()}
        yield replace(case, arrays=arrays, in_numpy=None, tolerance=1e-2)


def _integer_products() -> Iterator[Case]:
    """Cubes of bytes with sums of 32 bits."""
    for n in CUBES[:-1]:
        product = Product(n, n, n, "i8")
        arrays = {name: np.random.default_rng(0).integers(-128, 128, (n, n)).astype(np.int8) for name in "ab"}
        in_onnxruntime = _onnx("y = MatMulInteger(a, b)", arrays, (n, n), result="int32")
        yield Case(
            f"{n} × {n} × {n}",
            product.program,
            arrays,
            product.flops,
            lambda torch, a, b: torch._int_mm(a, b),
            in_onnxruntime=in_onnxruntime,
            tolerance=0,
        )


def _epilogues() -> Iterator[Case]:
    """Cubes with a bias and GELU behind them, whose time is beside that of the product by itself."""
    for n in CUBES[1:]:
        arrays = {name: _normal((n, n), seed) for seed, name in enumerate("xw")} | {"b": _normal((n,))}
        product = {name: arrays[name] for name in "xw"}

        def in_torch(torch: Torch, x: Torch, w: Torch, b: Torch) -> Torch:
            return torch.nn.functional.gelu(torch.matmul(x, w) + b)

        program = _onnx("p = MatMul(x, w) t = Add(p, b) y = Gelu(t)", arrays, (n, n))
        alone = _onnx("y = MatMul(x, w)", product, (n, n))
        yield Case(f"{n} × {n} × {n}", program, arrays, 2 * n**3, in_torch, alone=alone)


# --- convolutions -----------------------------------------------------------------------------------------------------


def _convolutions() -> Iterator[Case]:
    """Those of ResNet-50, and the depthwise ones of MobileNet-v2, of one image and of eight; weights are given once."""
    for batch in (1, 8):
        for channels, filters, kernel, stride, side in RESNET_50:
            yield convolution(batch, channels, filters, kernel, stride, side)
        for channels, stride, side in MOBILENET:
            yield convolution(batch, channels, channels, 3, stride, side, groups=channels)


def convolution(batch: int, channels: int, filters: int, kernel: int, stride: int, side: int, groups: int = 1) -> Case:
    """That of a square kernel, padded so that without a stride the image keeps its size."""
    pad, out = kernel // 2, -(-side // stride)
    x, w = _normal((batch, channels, side, side)), _normal((filters, channels // groups, kernel, kernel))
    asked = f"pads = {[pad] * 4}, strides = {[stride] * 2}, group = {groups}"

    def in_torch(torch: Torch, x: Torch, w: Torch) -> Torch:
        return torch.nn.functional.conv2d(x, w, padding=pad, stride=stride, groups=groups)

    kind = "depthwise" if groups > 1 else f"{kernel} × {kernel}"
    name = f"{batch} of {channels} × {side}², {kind}, to {filters}{f', stride {stride}' if stride > 1 else ''}"
    work = 2 * batch * filters * out * out * channels // groups * kernel * kernel
    program = _onnx(f"y = Conv<{asked}>(x, w)", {"x": x}, (batch, filters, out, out), w=w)
    return Case(name, program, {"x": x, "w": w}, work, in_torch, in_onnxruntime=program)


def _by_winograd() -> Iterator[Case]:
    """Those of 3 × 3 without strides; work is that of the sums as they are written."""
    for batch in (1, 8):
        for channels, filters, kernel, stride, side in RESNET_50:
            if (kernel, stride) == (3, 1):
                case = convolution(batch, channels, filters, kernel, stride, side)
                yield replace(case, alone=case.program, plan={"algo_choice": {"conv": "winograd_3x3"}})


# --- rows, elements and others ----------------------------------------------------------------------------------------


def _rows(kind: str) -> Iterator[Case]:
    """Ops on 4096 × 4096 elements: each is read once and written once."""
    dtype = np.dtype(np.float32) if kind == "float" else np.dtype(ml_dtypes.bfloat16)
    x, b = _normal((SIDE, SIDE)).astype(dtype), _normal((SIDE,)).astype(dtype)
    size, tolerance = dtype.itemsize, 1e-4 if kind == "float" else 2e-2

    def case(name: str, body: str, in_torch: Callable[..., Any], shape: Sequence[int], **more: np.ndarray) -> Case:
        arrays = {"x": x, **more}
        written = size * int(np.prod(shape))
        program, work = _onnx(body, arrays, shape), size * x.size + written
        return Case(name, program, arrays, work, in_torch, tolerance=tolerance, is_compiled=True)

    square = (SIDE, SIDE)
    yield case("softmax", "y = Softmax<axis = 1>(x)", lambda torch, x: torch.nn.functional.softmax(x, 1), square)
    yield case(
        "layer norm",
        "y = LayerNormalization<axis = 1>(x, b, b)",
        lambda torch, x, b: torch.nn.functional.layer_norm(x, (SIDE,), b, b),
        square,
        b=b,
    )
    yield case(
        "rms norm",
        "y = RMSNormalization<axis = 1>(x, b)",
        lambda torch, x, b: torch.nn.functional.rms_norm(x, (SIDE,), b, 1e-5),
        square,
        b=b,
    )
    yield case("GELU", "y = Gelu(x)", lambda torch, x: torch.nn.functional.gelu(x), square)
    yield case(
        "bias, GELU, residual",
        "t = Add(x, b) g = Gelu(t) y = Add(g, x)",
        lambda torch, x, b: torch.nn.functional.gelu(x + b) + x,
        square,
        b=b,
    )
    yield case("transpose", "y = Transpose<perm = [1, 0]>(x)", lambda torch, x: x.t().contiguous(), square)
    for name, axis in (("row sum", 1), ("column sum", 0)):
        body = f"a = Constant<value_ints = [{axis}]>() y = ReduceSum<keepdims = 0>(x, a)"
        yield case(name, body, lambda torch, x, axis=axis: x.sum(axis), (SIDE,))


def _attention() -> Iterator[Case]:
    """Eight heads of 64, over sequences of several lengths, of all positions or of those before."""
    for length in LENGTHS:
        for is_causal in (False, True):
            shape = (1, 8, length, 64)
            arrays = {name: _normal(shape, seed) for seed, name in enumerate("qkv")}

            def in_torch(torch: Torch, q: Torch, k: Torch, v: Torch, is_causal: bool = is_causal) -> Torch:
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

            program = _onnx(f"y = Attention<is_causal = {int(is_causal)}>(q, k, v)", arrays, shape)
            work = 4 * 8 * length * length * 64 // (2 if is_causal else 1)
            yield Case(f"{length} positions{', causal' if is_causal else ''}", program, arrays, work, in_torch)


def _others() -> Iterator[Case]:
    x = _normal((SIDE, SIDE))
    body = "a = Constant<value_int = 1>() y = CumSum(x, a)"
    program = _onnx(body, {"x": x}, x.shape)
    yield Case("cumulative sum", program, {"x": x}, 2 * x.nbytes, lambda torch, x: torch.cumsum(x, 1), tolerance=1e-3)
    images = _normal((8, 64, 112, 112))
    body = "y = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x)"
    program = _onnx(body, {"x": images}, (8, 64, 56, 56))

    def pooled(torch: Torch, x: Torch) -> Torch:
        return torch.nn.functional.max_pool2d(x, 3, 2, 1)

    yield Case("max pool 3 × 3", program, {"x": images}, images.nbytes * 5 / 4, pooled)
    places = np.random.default_rng(0).integers(0, SIDE, SIDE)
    arrays = {"x": x, "i": places}
    program = _onnx("y = Gather<axis = 0>(x, i)", arrays, x.shape)
    yield Case("gather of rows", program, arrays, 2 * x.nbytes, lambda torch, x, i: x[i])
    rows = _normal((50, 50_000))
    program = _onnx("k = Constant<value_ints = [50]>() y, z = TopK(x, k)", {"x": rows}, (50, 50))
    yield Case("top 50 of 50,000", program, {"x": rows}, rows.nbytes, lambda torch, x: torch.topk(x, 50)[0])


def _normal(shape: Sequence[int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(tuple(shape), dtype=np.float32)


#: What ONNX's text calls the types of arrays.
_ONNX_NAMES = {"float32": "float", "bfloat16": "bfloat16", "int64": "int64", "int8": "int8"}


def _onnx(
    body: str, arrays: Arrays, shape: Sequence[int], result: str | None = None, **weights: np.ndarray
) -> onnx.ModelProto:
    """A model of the body of a graph, whose result is `y`, of the type of the first input unless it is said."""
    inputs = ", ".join(f"{_ONNX_NAMES[each.dtype.name]}{[*each.shape]} {name}" for name, each in arrays.items())
    first = next(iter(arrays.values()))
    output = f"{result or _ONNX_NAMES[first.dtype.name]}{[*shape]} y"
    text = f'<ir_version: 10, opset_import: ["" : 23]> case ({inputs}) => ({output}) {{ {body} }}'
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in weights.items())
    return model
