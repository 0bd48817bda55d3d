"""Published CUDA kernels with the speeds that their authors measured, and how each is launched.

Nothing of them is part of the project: `bench/clock.py --kernels DIR` compiles what it finds in a folder of checkouts.

    published     `PublishedKernel`, `Launch`, and nvcc, which makes PTX of a checkout's sources
    fast_cu       pranjalssh/fast.cu: a ladder of bf16 products on H100
    tensor_gemm   xudoong/GEMM: f16 products by wmma and mma.sync on A100
    sgemm_cuda    siboehm/SGEMM_CUDA: a ladder of f32 products on RTX A6000
    attention     attention by Triton, whose PTX attention_in_triton.py makes
    reading       what memory limits: fast.cu's sums, softmax by kernels of our own (softmax.cu)
"""

from .attention import ATTENTION
from .fast_cu import FAST_CU, FIRST_ORDER, K_SWEEP
from .published import Launch, PublishedKernel
from .reading import SOFTMAX, SUMS
from .sgemm_cuda import SGEMM_CUDA
from .tensor_gemm import TENSOR_GEMM

__all__ = [
    "ATTENTION",
    "FAST_CU",
    "FIRST_ORDER",
    "K_SWEEP",
    "SGEMM_CUDA",
    "SOFTMAX",
    "SUMS",
    "TENSOR_GEMM",
    "Launch",
    "PublishedKernel",
]
