"""Programs run as one kernel on the simulator, with what its launches have moved."""

import dataclasses
from collections import Counter

import tinyc
from analysis_programs.region_kernels import one_kernel_program
from tinyc.driver.verification import output_tolerances
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.random_inputs import random_inputs


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
        arrays = [*self.inputs.values(), *self.outputs.values()]
        return sum(array.nbytes for array in arrays)

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
