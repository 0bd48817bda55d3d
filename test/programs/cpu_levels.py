"""A program compiled for the CPUs that code is made for: this machine's, and the levels of x86-64.

In: a `Program` of `strategies`. Out: its module at the Tiny layer, and the artifact with the code for a CPU. Code for a
level that this machine has not is compiled, and not run: a test says so by `require_level`.
"""

import functools
import json
from dataclasses import replace

import pytest

from analysis_programs.contraction_programs import CONTRACTIONS, LONG_SIZES, Sizes
from parameters import in_turn
from programs.example_bindings import BIND, EXAMPLES
from programs.one_contraction import LEAST_ERROR
from programs.strategies import Program
from tinyc.analysis.graphs import main_function
from tinyc.driver.compilation import cpu_artifact, lowerings_of
from tinyc.driver.request import request_for
from tinyc.driver.sources import read_program
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.signature import signature_of
from tinyc.importers import tiny_json
from tinyc.runtime.cpu_features import HOST, machine_level
from tinyc.runtime.threads import team
from workloads import WORKLOADS

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", HOST)
#: One thread, and numbers of them that most turns do not divide by.
THREADS = (1, 2, 5)

#: Of the workloads those that have attention, products of weights, and convolutions.
NETWORKS = ("mlp", "resnet", "attention", "transformer_gelu", "transformer_swiglu")
EXISTING = (*BIND, *(f"network_{name}" for name in NETWORKS))

needs_team = pytest.mark.skipif(team() is None, reason="did not run: this system has no OpenMP runtime (libgomp1)")
#: Each of `EXISTING` or of `CONTRACTIONS` for one CPU of those that most machines run, in turn.
existing_in_turn, contractions_in_turn = (
    in_turn("name", "cpu", names, ("x86-64-v2", "x86-64-v3", HOST)) for names in (EXISTING, CONTRACTIONS)
)
at_every_level = pytest.mark.parametrize("cpu", LEVELS)


class CompiledProgram:
    """A program on its way to the code of a CPU; options are those of `tinyc.compile`, such as a plan."""

    def __init__(self, program, cpu, **options):
        request = request_for("cpu", bind=program.bind, weights=program.weights, **options)
        (self.lowering,) = lowerings_of(json.dumps(program.document), request).values()
        self.artifact = cpu_artifact(self.lowering, None if cpu == HOST else cpu)
        self.weights = {name: program.inputs[name] for name in program.weights}
        self.inputs = {name: array for name, array in program.inputs.items() if name not in self.weights}

    @functools.cached_property
    def module(self):
        """The program at the Tiny layer."""
        return self.lowering.module("tiny")

    def executable(self, kind, threads):
        """What runs it, a `CpuExecutable` or what is derived from it, with its weights set."""
        made = kind(self.artifact.program, self.artifact.code, self.artifact.arrays, threads)
        made.pool.set(self.weights)
        return made


def existing_program(name):
    """Return a program of `examples/` at its odd sizes, or one of `NETWORKS`, whose weights are given once."""
    if name in BIND:
        return _program(read_program(EXAMPLES / f"{name}.json", BIND[name]))
    program = _program(read_program(WORKLOADS[name.removeprefix("network_")].build()))
    return replace(program, weights=tuple(each for each in program.inputs if each.startswith("w")))


def contraction(name):
    """Return one of `CONTRACTIONS` in f32, whose sides fill micro-kernels and do not divide by them, with inputs."""
    document = tiny_json.dump(CONTRACTIONS[name](Sizes(LONG_SIZES)).module)
    return _program(tiny_json.import_program(document.replace('"fp64"', '"fp32"')))


def _program(module):
    outputs = signature_of(main_function(module)).outputs
    errors = {each.name: LEAST_ERROR if each.type.element.is_float else 0 for each in outputs}
    return Program(json.loads(tiny_json.dump(module)), {}, {}, random_inputs(module, 0), errors)


def runs_here(cpu):
    """Say whether this machine runs code for a CPU."""
    return cpu == HOST or cpu <= (machine_level() or "")


def require_level(cpu, done="it did not run"):
    """Skip a test that runs code for a CPU that this machine is not, and say what was `done`."""
    if not runs_here(cpu):
        pytest.skip(f"{done}: this machine's CPU is of level {machine_level()}, and the code for {cpu}")
