"""Programs run as one kernel on the simulator, with what its launches have moved."""

import dataclasses
import math
from collections import Counter

import tinyc
from analysis_programs.region_kernels import one_kernel_program
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances


@dataclasses.dataclass
class BroadcastOperand:
    """An operand that is broadcast along rows or columns: its bytes, those that are read of it, and by how many CTAs.

    `wanted` is what is read of it if each element of the results reads it by itself.
    """

    name: str
    bytes: int
    read: int
    ctas: int
    wanted: int

    @property
    def most(self):
        """The bytes that are read if each CTA reads once what it needs of it."""
        return min(self.ctas * self.bytes, self.wanted)


@dataclasses.dataclass
class Run:
    """A program that has run as one kernel: its traffic in global memory, and what is needed."""

    model: tinyc.Model
    inputs: dict
    outputs: dict
    expected: list
    tolerances: list

    @classmethod
    def of(cls, program, inputs=None, **options):
        """Run a program, on random inputs where none are given."""
        model = tinyc.compile(str(one_kernel_program(program)), target="sim", **options)
        inputs = inputs or random_inputs(model.lowering.module("region"), seed=0)
        expected = list(reference.evaluate_module(program.module, inputs).values())
        tolerances = list(output_tolerances(program.module, inputs).values())
        return cls(model, inputs, model.run(**inputs), expected, tolerances)

    def check(self, outputs=None):
        """Compare with the reference, in the tolerance that is derived for the program."""
        found = zip((outputs or self.outputs).items(), self.expected, self.tolerances, strict=True)
        for (name, array), expected, tolerance in found:
            comparison = compare(name, array, expected, tolerance)
            assert comparison.ok, str(comparison)
        return self

    @property
    def needed(self):
        """The bytes of all operands and results."""
        return self.full_size_needed + sum(each.bytes for each in self.broadcast)

    @property
    def full_size_needed(self):
        """The bytes of results, and of operands that are not broadcast."""
        broadcast = {each.name for each in self.broadcast}
        arrays = [array for name, array in self.inputs.items() if name not in broadcast]
        return sum(array.nbytes for array in (*arrays, *self.outputs.values()))

    @property
    def full_size_bytes(self):
        """The bytes that are read and written, but for operands that are broadcast."""
        return self.bytes - sum(each.read for each in self.broadcast)

    @property
    def broadcast(self):
        """The operands of a lower rank than others: rows or columns of these share them."""
        rank = max((array.ndim for array in self.inputs.values()), default=0)
        elements = max(array.size for array in self.outputs.values())
        return [
            BroadcastOperand(name, array.nbytes, *self._read_of(f"input_{number}"), elements * array.itemsize)
            for number, (name, array) in enumerate(self.inputs.items())
            if 0 < array.ndim < rank
        ]

    def _read_of(self, buffer):
        """The bytes that are read of a buffer, and the number of CTAs that may read it."""
        read = ctas = 0
        for kernel, counters in zip(self.model.lowering.program().kernels, self.counters, strict=True):
            at = [pointer.buffer for pointer in kernel.pointers]
            found = [each.read for each in counters.arrays if buffer in (at[number] for number in each.arguments)]
            read += sum(found)
            ctas += math.prod(kernel.grid) if found else 0
        return read, ctas

    @property
    def counters(self):
        """What each launch has done."""
        return [report.counters for report in self.model.reports]

    @property
    def bytes(self):
        """The bytes that are read and written."""
        return sum(each.bytes["global"] for each in self.counters)

    @property
    def sectors(self):
        """The sectors that are touched, and the fewest that hold what is accessed."""
        lines = [line for each in self.counters for line in each.sectors.values()]
        return sum(line.units for line in lines), sum(line.fewest for line in lines)

    @property
    def bank_conflicts(self):
        """The passes through shared memory that could be saved."""
        return sum(each.bank_conflicts.total() for each in self.counters)

    @property
    def scheme(self):
        """The scheme of the kernel."""
        return self.model.text("plan").split('scheme = "')[1].split('"')[0]

    def bytes_by_width(self):
        """The bytes that are moved, by those of one access."""
        found = Counter()
        for each in self.counters:
            for (space, width), count in (each.read + each.written).items():
                if space == "global":
                    found[width] += count
        return found
