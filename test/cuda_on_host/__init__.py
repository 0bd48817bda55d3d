"""Generated CUDA files, compiled: by nvcc for the GPU, and by g++ for the CPU, where kernels run thread by thread.

For the CPU, `include/` stands in for CUDA's headers, and a launch becomes a call. Without a
compiler the tests are skipped.
"""

import atexit
import functools
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tinyc.dialects.exec.to_program import program_of
from tinyc.dialects.gpu.to_cuda import cuda_text
from tinyc.dialects.region.to_exec.lowering import RegionToExec
from tinyc.mlir import func
from tinyc.passes.runner import copy_module, run_passes
from tinyc.runtime.assembler import find_ptxas
from tinyc.runtime.sim import SimExecutable

HEADERS = Path(__file__).parent / "include"
_FOR_HOST = ["-O1", "-std=c++17", "-w", "-ffp-contract=off", f"-I{HEADERS}"]
_INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
_LAUNCH = re.compile(r"(\w+)<<<(.+?), (dim3\(.+?\))>>>\((.*)\);")
_FILL = re.compile(r"fill_(?:floats|integers)\((\w+), generator, .*\);")
_FETCH = re.compile(r"to_host\(\w+, (\w+)\);\n  ok")
_MANGLED = re.compile(r"\b_Z(\d+)([A-Za-z]\w*?)(_param_\d+)?\b")
_FILES = """
template <typename T> void read_file(std::vector<T>& values, const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file || fread(values.data(), sizeof(T), values.size(), file) != values.size()) exit(9);
  fclose(file);
}
template <typename T> void write_file(const std::vector<T>& values, const char* path) {
  FILE* file = fopen(path, "wb");
  if (!file || fwrite(values.data(), sizeof(T), values.size(), file) != values.size()) exit(9);
  fclose(file);
}
int main("""


@dataclass(frozen=True)
class Ran:
    """What a program printed last on standard output, and how it ended."""

    line: str
    errors: str
    status: int

    @property
    def max_abs_err(self):
        """The number that `main` prints."""
        return float(self.line.removeprefix("max_abs_err="))


def build(text, folder):
    """Compile a file for the CPU; return the program."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++ that could compile the CUDA file for the CPU")
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(_LAUNCH.sub(r"cuda_on_host::launch(\2, \3, [&] { \1(\4); });", text), encoding="utf-8")
    read_before = ["-include", _headers(compiler, tuple(_INCLUDE.findall(text)))]
    command = [compiler, *_FOR_HOST, *read_before, "-o", program, source]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr[:3000]
    return program


@functools.cache
def _headers(compiler, includes):
    """The headers that a file begins with as one, which g++ has read already: they are most of what it reads."""
    folder = tempfile.mkdtemp(prefix="cuda-on-host-")
    atexit.register(shutil.rmtree, folder)
    header = Path(folder, "headers.h")
    header.write_text("\n".join(includes) + "\n", encoding="utf-8")
    subprocess.run([compiler, *_FOR_HOST, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return header


def run(program, *sizes):
    """Run a program at sizes such as "M=7"."""
    ended = subprocess.run([program, *sizes], capture_output=True, text=True, check=False, timeout=120)
    return Ran(ended.stdout.strip(), ended.stderr.strip(), ended.returncode)


def run_on(text, inputs, outputs, folder, sizes=()):
    """Run a file on given inputs instead of random ones; return its outputs, arrays like those of `outputs`."""
    names = iter(inputs)
    fetched = iter(range(len(outputs)))
    text = text.replace("int main(", _FILES)
    text = _FILL.sub(lambda m: f'read_file({m[1]}, "{folder}/{_position(inputs, next(names))}.in");', text)
    text = _FETCH.sub(lambda m: f'{m[0][:-4]}  write_file({m[1]}, "{folder}/{next(fetched)}.out");\n  ok', text)
    for name, array in inputs.items():
        (folder / f"{_position(inputs, name)}.in").write_bytes(np.ascontiguousarray(array).tobytes())
    ran = run(build(text, folder), *sizes)
    found = {
        name: np.frombuffer((folder / f"{position}.out").read_bytes(), like.dtype).reshape(like.shape)
        for position, (name, like) in enumerate(outputs.items())
    }
    return ran, found


def _position(inputs, name):
    return list(inputs).index(name)


def _packaged_nvcc():
    """Return the nvcc of the package that ptxas comes from, or None."""
    ptxas = find_ptxas()
    packaged = ptxas and ptxas.with_name("nvcc")
    return packaged if packaged and packaged.exists() else None


def as_one_file(texts):
    """Return files as one, by names that are namespaces in it; the headers of all stand in front, once each."""
    headers = dict.fromkeys(each for text in texts.values() for each in _INCLUDE.findall(text))
    bodies = (f"namespace {name} {{\n{_INCLUDE.sub('', text)}\n}}" for name, text in texts.items())
    return "\n".join([*headers, *bodies]).replace("int main(", "int whole_program(")


def compile_for_gpu(text, folder, *architectures, host=False):
    """Compile a file by nvcc for architectures such as "80"; a warning is an error.

    The code of the host is read and checked for each of them; with `host` its own compiler takes it, too.
    """
    kind = ["-c", "program.o"] if host else ["-fatbin", "program.fatbin"]
    _nvcc(text, folder, [f"-gencode=arch=compute_{each},code=sm_{each}" for each in architectures], *kind)


def ptx_by_nvcc(text, folder, architecture):
    """The PTX that nvcc makes of a file; kernels have the names that they have in it."""
    _nvcc(text, folder, [f"-arch=compute_{architecture}", "-fmad=false"], "-ptx", "program.ptx")
    ptx = (folder / "program.ptx").read_text(encoding="utf-8")
    return _MANGLED.sub(lambda name: name[2][: int(name[1])] + (name[3] or ""), ptx)


def assemble_functions(functions, folder, architecture):
    """Compile a text of functions of the device that nothing calls; a warning is an error."""
    text = f"#include <cstdint>\n\n{functions.replace('__forceinline__ ', '')}\n"
    target = f"-gencode=arch=compute_{architecture},code=sm_{architecture}"
    _nvcc(text, folder, [target, "-rdc=true"], "-c", "program.o")


def run_ptx_of(module, arch, inputs, folder):
    """Run on the simulator what nvcc makes of a module's kernels, which is lowered after it; return its outputs."""
    kernels = copy_module(module)
    for op in [each for each in kernels.body.operations if isinstance(each, func.FuncOp)]:
        op.erase()
    ptx = ptx_by_nvcc(cuda_text(kernels), folder, arch.removeprefix("sm_"))
    run_passes(module, [RegionToExec()])
    with module.context:
        return SimExecutable(program_of(module), ptx).run(inputs)


def _nvcc(text, folder, options, kind, output):
    compiler = shutil.which("nvcc") or _packaged_nvcc()
    if compiler is None or shutil.which("g++") is None:
        pytest.skip("did not run: there is no nvcc, or no g++ for it, that could compile the CUDA file")
    (folder / "program.cu").write_text(text, encoding="utf-8")
    command = [compiler, "-O3", *options, "-Werror", "all-warnings", kind, "program.cu", "-o", output]
    compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stdout[:1000] + compiled.stderr[:3000]
