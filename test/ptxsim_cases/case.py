"""What a case of the corpus is: a kernel of `data/`, its launch, its inputs, and what must come out.

In: nothing of the simulator; a case names arrays, and says what a tensor map is made of. Out: `Case`, which whoever
runs kernels turns into a launch, and `Mutation`, which makes of a correct kernel a faulty one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

DATA = Path(__file__).parent.parent / "ptxsim" / "data"
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Tiled:
    """An argument that is a tensor map of tiles over an array: the parameters of `TensorMap.tiled`, under its names.

    `is_pointed_to` says that the kernel takes a pointer to it.
    """

    array: str
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    box_dim: tuple[int, ...]
    swizzle: str = "none"
    is_pointed_to: bool = False

    @property
    def tensor_rank(self) -> int:
        return len(self.global_dim)

    @property
    def element_strides(self) -> tuple[int, ...]:
        return (1,) * self.tensor_rank


@dataclass(frozen=True)
class Im2col:
    """A tensor map of columns of an image, as an argument: the parameters of `TensorMap.im2col`, under its names."""

    array: str
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    pixel_box_lower_corner: tuple[int, ...]
    pixel_box_upper_corner: tuple[int, ...]
    channels_per_pixel: int
    pixels_per_column: int

    @property
    def tensor_rank(self) -> int:
        return len(self.global_dim)

    @property
    def element_strides(self) -> tuple[int, ...]:
        return (1,) * self.tensor_rank


#: The name of an array, a number of exactly the parameter's type, or a tensor map.
Argument = str | np.generic | Tiled | Im2col


@dataclass(frozen=True)
class Mutation:
    """A change to the text of a kernel, and the kinds of finding of which at least one must be reported for it.

    `pattern`: a regular expression; its match number `index` (0: the first, within the entry) is replaced by
    `replacement`, or every match when `index` is None. The outputs of a faulty kernel may be anything.
    Without `kinds` the change repairs the kernel: it has no finding then, and the outputs are as expected.
    """

    name: str
    pattern: str
    kinds: tuple[str, ...]
    index: int | None = 0
    replacement: str = ""

    def apply(self, text: str, entry: str) -> str:
        """The text with the kernel `entry` changed.

        Raises:
            ValueError: the kernel has no such match.
        """
        start = re.search(rf"\.entry {entry}\(", text)
        if start is None:
            raise ValueError(f"there is no kernel {entry!r}")
        following = re.compile(r"^\.visible \.entry|^\.entry|^\.func", re.MULTILINE).search(text, start.end())
        end = following.start() if following else len(text)
        body = text[start.end() : end]
        matches = list(re.finditer(self.pattern, body, re.MULTILINE))
        chosen = matches if self.index is None else matches[self.index : self.index + 1]
        if not chosen:
            raise ValueError(f"{entry}: match {self.index} of {len(matches)} for {self.pattern!r}")
        for match in reversed(chosen):
            body = body[: match.start()] + match.expand(self.replacement) + body[match.end() :]
        return text[: start.end()] + body + text[end:]


@dataclass(frozen=True)
class Case:
    """One launch of one kernel.

    Shapes:
        make: fresh arrays by name from a generator, the outputs poisoned.
        expected: by the same names those arrays that the kernel writes, as they are after the launch; by numpy.
        again: the same by another way, which shares nothing with the first.
    """

    name: str
    ptx: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    make: Callable[[np.random.Generator], Arrays]
    expected: Callable[[Arrays], Arrays]
    again: Callable[[Arrays], Arrays]
    cluster: tuple[int, int, int] = (1, 1, 1)
    dynamic_shared_bytes: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    findings: tuple[str, ...] = ()  # may be reported for the unchanged kernel; the reason is beside the case
    mutations: tuple[Mutation, ...] = ()
    completions: tuple[Mutation, ...] = ()  # repairs without which the kernel cannot run; why is where they are defined
    seed: int = 0

    def recorded(self) -> str:
        """The PTX of the module as its compiler wrote it."""
        return (DATA / self.ptx).read_text(encoding="utf-8")

    def text(self) -> str:
        """The PTX of the module as it is launched."""
        text = self.recorded()
        for completion in self.completions:
            text = completion.apply(text, self.entry)
        return text

    def arrays(self) -> Arrays:
        """Fresh inputs and poisoned outputs: the same ones for every call."""
        return self.make(np.random.default_rng(self.seed))


def poison(*shape: int, dtype: DTypeLike = np.int32) -> np.ndarray:
    """An array for outputs, every byte 0xa5."""
    array = np.empty(shape, np.dtype(dtype))
    array.view(np.uint8)[...] = 0xA5
    return array


def no_barrier(index: int | None, *kinds: str) -> Mutation:
    """The mutation that takes barrier number `index` of the block out of a kernel."""
    which = "every" if index is None else f"number {index}"
    return Mutation(f"without barrier {which}", r"^\s*(bar|barrier)\.sync\s+\S+;", kinds or ("race",), index)
