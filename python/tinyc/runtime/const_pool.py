"""The ConstPool: what a program keeps from run to run, the weights that the user gives and the program's own constants.

In: a program, the elements of its constants, arrays of weights. Out: memory for the buffers of the
pool, filled when it is first needed, so that a mapped file is read when the program first runs, not when it is made.
What kernels prepare of weights and constants is written by whoever runs them, once after each change (`reading`).

A weight of a model may be in its file, in the pool, and in the panels that kernels prepare of it: memory for one is
enough. Pages of the file are given back as they are read. A constant that no kernel reads but those that prepare is
`passing`: who runs kernels on the host's memory lets these read it where it is, and its place in the pool stays empty.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.runtime.arena import POISON, allocate_arena
from tinyc.runtime.arrays import DTYPE_NAMES, Declared, as_array, check_element_type, mismatch
from tinyc.runtime.program import Buffer, KernelLaunch, Program
from tinyc.vocabulary.mapped_file import give_back_pages, once_through, require_unchanged


class Weights:
    """The weights of a program by name: each dense, of the declared type and shape, and none of them the user's array.

    `declared` says which there are.
    """

    def __init__(self, declared: Mapping[str, Declared]) -> None:
        self.declared = declared
        self.arrays: dict[str, np.ndarray] = {}

    def set(self, given: Any) -> None:
        """Take over arrays by name, some or all; those of before stay where none is given.

        Raises:
            TinycError: `InputMismatch`, for every one that is not declared, or not of its declared type or shape; then
                nothing has changed.
        """
        if not isinstance(given, Mapping):
            message = "the weights are not a mapping from names to arrays; give {name: array, …}"
            raise TinycError("InputMismatch", message)
        errors: list[TinycError] = []
        checked: dict[str, np.ndarray] = {}
        for name, array in given.items():
            try:
                checked[name] = self._checked(name, array)
            except TinycError as error:
                errors.append(error)
        if errors:
            raise TinycError.several(errors)
        if checked:
            self._take_all(checked)

    def missing(self) -> tuple[str, ...]:
        """The names of those that have not been set."""
        return tuple(name for name in self.declared if name not in self.arrays)

    def require(self, inputs: Iterable[str]) -> None:
        """Check that all weights have been set, and that a run gives none.

        Raises:
            TinycError: `InputMismatch`.
        """
        errors = [
            mismatch(name, f"'{name}' is a weight, which is given once: model.set_weights({{'{name}': …}}), not a run")
            for name in inputs
            if name in self.declared
        ]
        if missing := self.missing():
            shown = ", ".join(f"'{name}'" for name in missing)
            message = f"the weights {shown} have not been set; give them with model.set_weights before the first run"
            errors.append(mismatch(missing[0], message))
        if errors:
            raise TinycError.several(errors)

    def _checked(self, name: str, array: Any) -> np.ndarray:
        if name not in self.declared:
            raise mismatch(name, f"the program has no weight '{name}'{suggest(name, self.declared)}")
        return checked_weight(name, array, self.declared[name])

    def _take_all(self, checked: Mapping[str, np.ndarray]) -> None:
        self.arrays.update({name: np.array(array, order="C") for name, array in checked.items()})


def checked_weight(name: str, array: Any, declared: Declared) -> np.ndarray:
    """A weight as a numpy array of its declared type and shape.

    Raises:
        TinycError: `InputMismatch`.
    """
    found = as_array(name, array, what="weight")
    check_element_type(name, found, declared, "weight")
    if found.shape != tuple(declared.shape):
        wanted = f"{DTYPE_NAMES[declared.element]} [{', '.join(map(str, declared.shape))}]"
        raise mismatch(name, f"weight '{name}' has shape {list(found.shape)}; the program declares {wanted}")
    return found


class PassingConstants:
    """Constants by buffer, `arrays`, that are read where they are, by kernels that prepare."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.arrays = arrays

    @contextlib.contextmanager
    def read_by(self, kernel: KernelLaunch) -> Iterator[Mapping[str, np.ndarray]]:
        """Those that a kernel reads, dense and aligned, while it runs in the block; then their pages are given back.

        Raises:
            TinycError: `UnreadableFile`: a file that constants are mapped from has changed.
        """
        read = {name: self.arrays[name] for name in kernel.reads if name in self.arrays}
        for array in read.values():
            require_unchanged(array)
        yield {name: np.require(array, requirements=("C", "A")) for name, array in read.items()}
        for array in read.values():
            give_back_pages(array)


@dataclass(eq=False)
class PoolImage:
    """The bytes of a pool with one set of weights; while it has `readers`, its weights are never written again.

    A run that finds it not `is_prepared` holds `preparing` until it is. `version` is another one after each change.
    """

    memory: np.ndarray
    passing: PassingConstants
    version: int = 0
    readers: int = 0
    is_prepared: bool = False
    preparing: threading.Lock = field(default_factory=threading.Lock)


class ConstPool(Weights):
    """The memory of a program's pool. Any threads may run, and set weights: a run has all of them as it began.

    `arrays` are the elements of its constants, and of weights that are set already, by the names of their buffers.
    With `reads_in_place`, constants that are passing have no elements in the memory.
    """

    def __init__(
        self, program: Program, arrays: Mapping[str, np.ndarray] | None = None, reads_in_place: bool = False
    ) -> None:
        self._weights = program.named("weight")
        super().__init__(self._weights)
        self._program, self._arrays = program, arrays or {}
        self._lock = threading.RLock()
        self._image: PoolImage | None = None
        missing = [each.name for each in program.of_kind("constant") if each.name not in self._arrays]
        if missing:
            raise TinycError("InvalidIr", "the constant has no elements", Where(node=missing[0]))
        passing = _passing_constants(program) if reads_in_place else ()
        self._passing = PassingConstants({each.name: self._arrays[each.name] for each in passing})
        self._filled = _between(passing, program.pool_bytes)
        held = {name: each.name for name, each in self._weights.items() if each.name in self._arrays}
        self.set({name: self._arrays[buffer] for name, buffer in held.items()})

    def image(self) -> PoolImage:
        """The bytes of the pool, aligned, with the constants and the weights that have been set in them.

        Raises:
            TinycError: `OutOfMemory`; `UnreadableFile`: a file that constants are mapped from has changed.
        """
        with self._lock:
            if self._image is None:
                memory = allocate_arena(self._program.pool_bytes)
                for each in self._filled:
                    memory[each] = POISON
                for buffer in self._program.of_kind("constant"):
                    if buffer.name not in self._passing.arrays:
                        _fill(memory, buffer, self._arrays[buffer.name])
                self._image = PoolImage(memory, self._passing)
            return self._image

    @contextlib.contextmanager
    def reading(self) -> Iterator[tuple[PoolImage, bool]]:
        """The pool for one run, and whether that is the first: then the kernels that prepare run in the block, alone.

        Raises:
            TinycError: as `image`.
        """
        with self._lock:
            image = self.image()
            image.readers += 1
        try:
            if image.is_prepared:
                yield image, False
                return
            with image.preparing:
                yield image, not image.is_prepared
                image.is_prepared = True
        finally:
            with self._lock:
                image.readers -= 1

    def by_buffer(self) -> dict[str, np.ndarray]:
        """Copies of the weights that have been set, read-only, by the names of their buffers."""
        with self._lock:  # of one moment, whatever another thread sets
            return {self._weights[name].name: _read_only(array.copy()) for name, array in self.arrays.items()}

    def set(self, given: Any) -> None:
        """Take over arrays by name, all at once; see `Weights.set`."""
        with self._lock:
            super().set(given)

    def _take_all(self, checked: Mapping[str, np.ndarray]) -> None:
        image = self.image()
        if image.readers:  # they go on with the weights that they began with
            self._image = PoolImage(allocate_arena(self._program.pool_bytes), self._passing)
            for each in self._filled:
                self._image.memory[each] = image.memory[each]
        held = self._image or image
        held.version, held.is_prepared = image.version + 1, False
        for name, array in checked.items():
            _fill(held.memory, self._weights[name], array)
        for name in (*self.arrays, *checked):
            self.arrays[name] = _read_only(_array_in(held.memory, self._weights[name]))


def pool_bytes_of(memory: np.ndarray, buffer: Buffer) -> np.ndarray:
    """The bytes of one buffer in those of the pool."""
    return memory[_place(buffer)]


def _place(buffer: Buffer) -> slice:
    assert isinstance(buffer.offset, int)  # exec.verify: these are numbers
    assert isinstance(buffer.size, int)
    return slice(buffer.offset, buffer.offset + buffer.size)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _array_in(memory: np.ndarray, buffer: Buffer) -> np.ndarray:
    """A buffer of the pool as an array."""
    shape = [extent for extent in buffer.shape if isinstance(extent, int)]  # exec.verify: all are numbers
    return pool_bytes_of(memory, buffer).view(buffer.element.dtype).reshape(shape)


def _fill(memory: np.ndarray, buffer: Buffer, array: np.ndarray) -> None:
    require_unchanged(array)
    target = _array_in(memory, buffer)
    if not array.flags.c_contiguous:
        np.copyto(target, array)
        return
    flat, start = target.reshape(-1), 0
    for part in once_through(array):
        flat[start : start + part.size] = part
        start += part.size


def _passing_constants(program: Program) -> Sequence[Buffer]:
    """The constants that no run reads but the first one."""
    read = {name for kernel in program.of_stage(prepare=False) for name in kernel.reads}
    return [buffer for buffer in program.of_kind("constant") if buffer.name not in read]


def _between(buffers: Sequence[Buffer], pool_bytes: int) -> Sequence[slice]:
    """The parts of the pool that are none of these buffers."""
    places = sorted((_place(each) for each in buffers), key=lambda place: place.start)
    starts, ends = [0, *(each.stop for each in places)], [*(each.start for each in places), pool_bytes]
    return [slice(start, end) for start, end in zip(starts, ends, strict=True)]
