"""The contenders of `gemm.py` on a GPU: PyTorch (cuBLAS), Triton and tinyc on the same operands, timed by events.

In: a product. Out: for each contender a function that runs it once on a cold L2 and tells its seconds, and how far its
result is from that of float64. PyTorch and Triton are imported here and in `triton_gemm` alone.
"""

# pyright: reportMissingImports=false
import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import torch
import triton

import triton_gemm
from gemm_cases import Product
from gemm_report import CUBLAS, PLAIN, TINYC, TRITON
from gemm_rounds import Measured, measure
from gemm_tinyc import CompiledProduct, StreamLaunch
from tinyc.diagnostics import TinycError

#: What is written between two runs, as a multiple of L2: nothing of the operands stays there.
_FLUSHED = 4
_TYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "i8": torch.int8,
    "i32": torch.int32,
}
#: How wide the normal distribution of int8 operands is.
_INT8_DEVIATION = 32
_SEED = 17
#: Characters of somebody's message.
_SHOWN = 120


class Stage:
    """One GPU with a stream, the memory that flushes L2, and two events."""

    def __init__(self) -> None:
        torch.manual_seed(_SEED)
        torch.backends.cuda.matmul.allow_tf32 = True
        self.properties = torch.cuda.get_device_properties(0)
        self.stream = torch.cuda.Stream()
        self._flush = torch.empty(_FLUSHED * self.properties.L2_cache_size, dtype=torch.int8, device="cuda")
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    @property
    def name(self) -> str:
        """The GPU."""
        return self.properties.name

    @property
    def heading(self) -> str:
        """The GPU, and the versions of what runs on it."""
        cublas = f"PyTorch {torch.__version__} with CUDA {torch.version.cuda}"
        return f"{self.name}, {cublas}, Triton {triton.__version__}"

    @property
    def arch(self) -> str:
        """What tinyc compiles for."""
        return "sm_90a" if (self.properties.major, self.properties.minor) == (9, 0) else "sm_80"

    def timed(self, launch: Callable[[], object]) -> Callable[[], float]:
        """A function that runs a launch once and tells its seconds.

        The GPU is still writing over L2 when the launch is given to it, so that the host's time for it is not measured.
        """

        def once() -> float:
            with torch.cuda.stream(self.stream):
                self._flush.zero_()
                self._start.record()
                launch()
                self._end.record()
            self._end.synchronize()
            return self._start.elapsed_time(self._end) / 1e3

        return once


class Operands:
    """The arrays of a product on the GPU, normally distributed, and what float64 makes of them."""

    def __init__(self, product: Product) -> None:
        self.product, kind = product, product.kind
        made = {"a": kind.operand, "b": kind.operand, "bias": kind.output, "residual": kind.output}
        self.stored = {name: _normal(shape, _TYPES[made[name]]) for name, shape in product.shapes.items()}
        a, b = (
            self.stored[name] if lies == "n" else self.stored[name].t()
            for name, lies in zip("ab", product.layout, strict=True)
        )
        self.a, self.b = a, b
        self.c = torch.empty((product.m, product.n), dtype=_TYPES[kind.output], device="cuda")
        self._expected = self.finished(a.double() @ b.double())

    def finished(self, c: torch.Tensor) -> torch.Tensor:
        """A product with what follows it."""
        if self.product.epilogue == "bias_relu":
            return torch.relu(c + self.stored["bias"])
        return c + self.stored["residual"] if self.product.epilogue == "residual" else c

    def error(self, found: torch.Tensor) -> float:
        """The largest error over what is allowed: 1 or less is right."""
        kind, apart = self.product.kind, (found.double() - self._expected).abs()
        if kind.is_exact:
            return 0.0 if not bool(apart.any()) else math.inf
        allowed = kind.rtol * self._expected.abs() + kind.atol * math.sqrt(self.product.k)
        worst = float((apart / allowed).max())
        return worst if math.isfinite(worst) else math.inf

    @property
    def addresses(self) -> dict[str, int]:
        """Where the inputs and the output are."""
        return {name: each.data_ptr() for name, each in {**self.stored, "c": self.c}.items()}


def _normal(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    drawn = torch.randn(shape, device="cuda", dtype=torch.float32)
    if dtype in (torch.int8, torch.int32):
        drawn = (drawn * _INT8_DEVIATION).round().clamp(-127, 127)
    return drawn.to(dtype)


def cublas_of(operands: Operands) -> Callable[[], torch.Tensor]:
    """PyTorch's best for it: fused where cuBLASLt has the epilogue; of int8 what follows is a kernel of its own."""
    a, b, stored = operands.a, operands.b, operands.stored
    if operands.product.kind.is_exact:
        return lambda: operands.finished(torch._int_mm(a, b))
    match operands.product.epilogue:
        case "bias_relu":
            return lambda: torch._addmm_activation(stored["bias"], a, b)
        case "residual":
            return lambda: torch.addmm(stored["residual"], a, b)
        case _:
            return lambda: torch.matmul(a, b)


def triton_of(operands: Operands) -> Callable[[], torch.Tensor]:
    """Triton's product in the configuration that it finds fastest, which its first run looks for."""
    a, b, c, stored, product = operands.a, operands.b, operands.c, operands.stored, operands.product
    given = stored.get("bias", c), stored.get("residual", c)
    sizes = product.m, product.n, product.k
    strides = *a.stride(), *b.stride(), c.stride(0)
    tuned = triton.autotune(triton_gemm.configurations(product.kind.bytes), key=["m", "n", "k"])
    kernel = tuned(triton_gemm.product)

    def grid(chosen: Mapping[str, int]) -> tuple[int]:
        return (triton.cdiv(product.m, chosen["TILE_M"]) * triton.cdiv(product.n, chosen["TILE_N"]),)

    def run() -> torch.Tensor:
        added = {"HAS_BIAS": product.epilogue == "bias_relu", "HAS_RESIDUAL": product.epilogue == "residual"}
        kernel[grid](a, b, *given, c, *sizes, *strides, **added)
        return c

    return run


@contextlib.contextmanager
def tinyc_of(operands: Operands, compiled: CompiledProduct, stage: Stage) -> Iterator[Callable[[], torch.Tensor]]:
    """The product of tinyc on the stage's stream."""
    launch = StreamLaunch(compiled, operands.addresses, stage.stream.cuda_stream)

    def run() -> torch.Tensor:
        launch()
        return operands.c

    try:
        yield run
    finally:
        torch.cuda.synchronize()
        launch.close()


def contest(
    product: Product, compiled: Sequence[CompiledProduct], stage: Stage, without: Collection[str], seconds: float
) -> tuple[Measured, str]:
    """What tinyc, cuBLAS and Triton take by turns, and what went wrong.

    Behind the product `compiled` may have the same one without its epilogue, which then takes part.
    """
    operands, faults, launches = Operands(product), list[str](), dict[str, Callable[[], torch.Tensor]]()
    with contextlib.ExitStack() as opened:
        for name, each in zip((TINYC, PLAIN), compiled, strict=False):
            launches[name] = opened.enter_context(tinyc_of(operands, each, stage))
        for name, made in ((CUBLAS, cublas_of), (TRITON, triton_of)):
            if name not in without:
                launches[name] = made(operands)
        for name in [*launches]:
            fault = _fault(launches[name], operands, stage, is_judged=name != PLAIN)
            if fault:
                faults.append(f"{name}: {fault}")
                del launches[name]
        return measure({name: stage.timed(each) for name, each in launches.items()}, seconds), "; ".join(faults)


def _fault(launch: Callable[[], torch.Tensor], operands: Operands, stage: Stage, is_judged: bool) -> str:
    """Run it once, on an output of other numbers; what is wrong with it, "" for nothing."""
    operands.c.fill_(-1)
    torch.cuda.synchronize()
    try:
        with torch.cuda.stream(stage.stream):
            result = launch()
        torch.cuda.synchronize()
    except (RuntimeError, triton.TritonError, TinycError) as error:
        return " ".join(str(error).split())[:_SHOWN]
    error = operands.error(result) if is_judged else 0
    return "" if error <= 1 else f"wrong, {error:.3g} times what is allowed"
