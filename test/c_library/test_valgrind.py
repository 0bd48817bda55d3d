"""C libraries under valgrind: no read of what is not theirs or has no value, no write there, and no leak.

A C program makes each model, runs it twice on memory that is as large as its tensors, and writes what it gives to
files, which tells of outputs without a value. `--random-examples N` runs more contractions than those of CI, new ones
each time.
"""

import json
import shutil
import signal
import subprocess

import numpy as np
import pytest

import tinyc
from programs.agreement import assert_agree
from programs.cpu_levels import EXISTING, existing_program, require_level
from programs.one_contraction import contractions
from programs.strategies import programs
from tinyc.c_library.interface import CInterface
from tinyc.executors import reference
from tinyc.runtime.outputs import outputs_at
from tinyc.runtime.sizes import solve_symbols

#: Of its levels valgrind knows those without AVX-512.
LEVELS = ("x86-64-v2", "x86-64-v3")
FAILED = 99
COMMAND = (
    "valgrind",
    "--quiet",
    f"--error-exitcode={FAILED}",
    "--leak-check=full",
    "--show-leak-kinds=all",
    "--sigill-diagnostics=yes",
)
#: What valgrind says of an instruction that it does not know, before the program ends.
UNKNOWN = "unhandled instruction bytes"
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>

static void *memory(const char *input, size_t size) {{
  void *made = malloc(size);
  FILE *file = input ? fopen(input, "rb") : NULL;
  if (input && (!file || fread(made, 1, size, file) != size)) exit(2);
  if (file) fclose(file);
  return made;
}}

static void keep(const char *output, const void *held, size_t size) {{
  FILE *file = fopen(output, "wb");
  if (!file || fwrite(held, 1, size, file) != size || fclose(file)) exit(2);
}}

{runs}
int main(void) {{
{calls}
  puts("done");
}}
"""
RUN = """
#include "{prefix}.h"
static void run_{prefix}(void) {{
  puts("{prefix}"), fflush(stdout);
  {prefix}_t *model;
  {prefix}_params params = {{{fields}}};
  if ({prefix}_init(&model)) puts({prefix}_error()), exit(3);
  for (int run = 0; run < 2; ++run)
    if ({prefix}_run(model, &params)) puts({prefix}_error()), exit(3);
  {prefix}_free(model);
{keeps}
}}
"""


@pytest.fixture(scope="module")
def compiler():
    """The C compiler, if valgrind is there, too."""
    for name in ("cc", "valgrind"):
        if shutil.which(name) is None:
            pytest.skip(f"did not run: there is no {name}")
    return shutil.which("cc")


class CProgram:
    """A program as a library in a folder, the C function that runs it, and what that has given."""

    def __init__(self, program, prefix, folder, cpu):
        self.program, self._prefix, self._folder = program, prefix, folder
        self._weights = {name: program.inputs[name] for name in program.weights}
        self._model = tinyc.compile(json.dumps(program.document), bind=program.bind, weights=self._weights)
        self._model.emit_library(folder / f"{prefix}.so", prefix, cpu)
        host = self._model.lowering.program()
        given = [program.inputs[name] for name in host.inputs]
        symbols = solve_symbols(host, [each.shape for each in given])
        self._interface, self._outputs = CInterface(host, prefix), outputs_at(host.named("output"), symbols)
        for number, array in enumerate(given):
            (folder / f"{prefix}_input_{number}").write_bytes(array.tobytes())
        self._sizes = [each.nbytes for each in given]
        self._sizes += [each.dtype.itemsize * int(np.prod(each.shape)) for each in self._outputs]
        self._symbols = {self._interface.fields[name]: symbols[name] for name in self._interface.symbols}

    @property
    def c_text(self):
        """The C function."""
        fields, keeps = dict(self._symbols), []
        for (_, buffer), size in zip(self._interface.boundary, self._sizes, strict=True):
            field, file = self._interface.fields[buffer.name], f'"{self._prefix}_{buffer.name}"'
            fields[field] = f"memory({file if buffer.kind == 'input' else 'NULL'}, {size})"
            if buffer.kind == "output":
                keeps.append(f"  keep({file}, params.{field}, {size});")
        keeps += [
            f"  free((void *)params.{self._interface.fields[each.name]});" for _, each in self._interface.boundary
        ]
        written = ", ".join(f".{field} = {value}" for field, value in fields.items())
        return RUN.format(prefix=self._prefix, fields=written, keeps="\n".join(keeps))

    def check(self):
        """Compare what was written with the reference."""
        module = self._model.lowering.module("tiny")
        outputs = {}
        for number, each in enumerate(self._outputs):
            held = (self._folder / f"{self._prefix}_output_{number}").read_bytes()
            outputs[each.name] = np.frombuffer(held, each.dtype).reshape(each.shape)
        assert_agree(self.program, outputs, reference.evaluate_module(module, self.program.inputs), module)


def build(compiler, folder, text, libraries=()):
    """Compile and link a C program; return its path."""
    (folder / "main.c").write_text(text)
    options = ["-std=c99", "-g", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-Wl,-rpath,{folder}"]
    command = [compiler, *options, folder / "main.c", *libraries, "-lm", "-o", folder / "main"]
    subprocess.run(command, check=True, timeout=120)
    return folder / "main"


def under_valgrind(program, folder):
    """Run a C program, and return its status and all that was said."""
    done = subprocess.run([*COMMAND, program], cwd=folder, capture_output=True, text=True, timeout=580)
    return done.returncode, done.stdout + done.stderr


def check_all(compiler, folder, cpu, named):
    """Run programs by their names in one C program, without those that have an instruction which valgrind lacks.

    Return the names of these: code for v3 has some, such as `vmovq` from register to register. They run by themselves.
    """
    found = {name: CProgram(program, name, folder, cpu) for name, program in named.items()}
    left_out = []
    while found:
        calls = "\n".join(f"  run_{name}();" for name in found)
        text = MAIN.format(runs="".join(each.c_text for each in found.values()), calls=calls)
        program = build(compiler, folder, text, [folder / f"{name}.so" for name in found])
        status, said = under_valgrind(program, folder)
        if (status, said.splitlines()[-1:]) == (0, ["done"]):
            break
        last = next(name for name in reversed(found) if name in said.splitlines())
        is_unknown = status == -signal.SIGILL and UNKNOWN in said
        assert is_unknown, f"{said}\n{last}: {json.dumps(named[last].document)}"
        subprocess.run([program], cwd=folder, capture_output=True, check=True)
        found.pop(last).check()
        left_out.append(last)
    for each in found.values():
        each.check()
    return left_out


def require_all(left_out):
    """Tell of programs that did not run under valgrind; all others did."""
    if left_out:
        pytest.skip(f"all ran but {', '.join(left_out)}, which have instructions that valgrind does not know")


@pytest.mark.parametrize("cpu", LEVELS)
def test_existing_programs_under_valgrind(compiler, tmp_path, cpu):
    require_level(cpu)
    require_all(check_all(compiler, tmp_path, cpu, {name: existing_program(name) for name in EXISTING}))


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize(("strategy", "examples"), [(programs, 4), (contractions, 6)])
def test_random_programs_under_valgrind(random_examples, compiler, tmp_path, cpu, strategy, examples):
    require_level(cpu)
    drawn = []
    random_examples(strategy(), examples)(lambda program: drawn.append(program))()
    named = {f"random_{number}": program for number, program in enumerate(drawn)}
    require_all(check_all(compiler, tmp_path, cpu, named))


WRONG = {
    "a read beyond": 'float *x = memory(NULL, 8); x[0] = x[1] = 1; keep("out", x + 1, 8); free(x);',
    "no value": 'float *x = memory(NULL, 8); keep("out", x, 8); free(x);',
    "a leak": 'memory(NULL, 8); keep("out", "", 1);',
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_found(wrong, compiler, tmp_path):
    text = MAIN.format(runs="", calls=WRONG[wrong])
    assert under_valgrind(build(compiler, tmp_path, text), tmp_path)[0] == FAILED
