"""The `main` of a CUDA file: it fills the inputs, runs the kernels, computes the same on the CPU, and compares.

In: a `runtime.Program`, what each kernel is called, and what is known of the inputs and of the roundings. Out: C++.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.dialects.cuda.main.sizes import c_notation
from tinyc.dialects.cuda.printer.names import distinct_identifiers
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import maximum_dims
from tinyc.runtime.program import (
    STATUS_WORDS,
    Alternative,
    Buffer,
    ExtentValue,
    KernelLaunch,
    Pointer,
    Program,
    Status,
    TensorMapParameter,
)
from tinyc.vocabulary.element_type import ElementType

_LARGEST_INTEGER = 8


@dataclass(frozen=True)
class Knowledge:
    """The facts that kernels give about a program: names in C++, limits of inputs as indices, tolerances of outputs."""

    kernels: Mapping[str, str]
    sizes: Mapping[str, int]
    limits: Mapping[str, Sequence[Dim]]
    base: Mapping[str, float]
    terms: Mapping[str, Dim]
    roundoff: Mapping[str, str]


def storage_name(element: ElementType) -> str:
    """The C++ type in which a buffer holds elements: unsigned numbers and bools as signed ones of their size."""
    if element.is_bool:
        return "int8_t"
    return element.c_name.removeprefix("u") if element.is_unsigned else element.c_name


def string_text(text: str) -> str:
    """A string literal: whatever is not a plain character as octal digits."""
    plain = (c if " " <= c <= "~" and c not in '"\\?' else "".join(f"\\{b:03o}" for b in c.encode()) for c in text)
    return f'"{"".join(plain)}"'


class HostPrinter:
    """Writes `main`; `constants` are the bytes of those inputs that are not drawn."""

    def __init__(self, program: Program, knowledge: Knowledge, constants: Mapping[str, bytes]) -> None:
        self.program, self.knowledge, self.constants = program, knowledge, constants
        self.symbols = dict(zip(program.symbols, distinct_identifiers(program.symbols), strict=True))
        self.lines: list[str] = []
        user = dict(zip([b.name for b in program.of_kind("input")], program.inputs, strict=True))
        user |= dict(zip([b.name for b in program.of_kind("output")], program.outputs, strict=True))
        self.wanted = {buffer.name: user.get(buffer.name, buffer.name) for buffer in program.buffers}
        self._name_buffers()

    def _name_buffers(self) -> None:
        """Name each buffer three times: what the host has, what the device has, what the host computes itself."""
        program = self.program
        wanted: list[str] = []
        keys: list[tuple[str, str]] = []
        for buffer in program.buffers:
            name = self.wanted[buffer.name]
            for kind, text in (("host", name), ("device", f"d_{name}"), ("expected", f"{name}_expected")):
                keys.append((buffer.name, kind))
                wanted.append(text)
        names = dict(
            zip(
                keys,
                distinct_identifiers(wanted, [*self.symbols.values(), *self.knowledge.kernels.values()]),
                strict=True,
            )
        )
        self.host, self.device, self.expected = (
            {buffer.name: names[buffer.name, kind] for buffer in program.buffers}
            for kind in ("host", "device", "expected")
        )
        for buffer in program.of_kind("input"):
            self.expected[buffer.name] = self.host[buffer.name]

    def text(self) -> str:
        """`main`."""
        for section in (self._sizes, self._inputs, self._memory, self._run, self._check_indices, self._compare):
            if self.lines:
                self._line("")
            section()
        return "\n".join(["int main(int argc, char** argv) {", *self.lines, "}"])

    # --- parts --------------------------------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self.lines.append(f"  {text}" if text else "")

    def _extent(self, dim: Dim) -> str:
        return c_notation(self.symbols).text(dim)

    def _elements(self, buffer: Buffer) -> str:
        return self._extent(extents.product(buffer.shape))

    def _sizes(self) -> None:
        if not self.symbols:
            self._line("if (argc > 1) {")
            self._line('  fprintf(stderr, "%s takes no arguments: all sizes are fixed\\n", argv[0]);')
            self._line("  return 2;")
            self._line("}")
            return
        known = self.knowledge.sizes
        values = ", ".join(f"{name} = {known[symbol]}" for symbol, name in self.symbols.items())
        self._line("// The sizes, which the command line may change: M=256.")
        self._line(f"int64_t {values};")
        self._line("for (int argument = 1; argument < argc; ++argument) {")
        reads = [f'read_size(argv[argument], "{symbol}", {name})' for symbol, name in self.symbols.items()]
        for read in reads:
            self._line(f"  if ({read}) continue;")
        names = " ".join(f"{symbol}={known[symbol]}" for symbol in self.symbols)
        self._line(f'  fprintf(stderr, "\'%s\' is no size; give them as in %s\\n", argv[argument], "{names}");')
        self._line("  return 2;")
        self._line("}")
        for symbol, name in self.symbols.items():
            self._line(f'require({name} >= 0, "{symbol} >= 0");')
        for each in self.program.assumptions:
            sign = "==" if each.predicate == "eq" else "<="
            self._line(f'require({self._extent(each.lhs)} {sign} {self._extent(each.rhs)}, "{each}");')

    def _inputs(self) -> None:
        self._line("// The inputs: the same random numbers in every run.")
        self._line("std::mt19937_64 generator(123);")
        for buffer in self.program.of_kind("input"):
            name, kind = self.host[buffer.name], storage_name(buffer.element)
            self._line(f"std::vector<{kind}> {name}({self._elements(buffer)});")
            if buffer.name in self.constants:
                self._constant(name, self.constants[buffer.name])
            else:
                self._line(f"{self._filling(buffer)};")
        if not self.program.of_kind("input"):
            self.lines.pop()
            self.lines[-1] = "  // There are no inputs."

    def _constant(self, name: str, data: bytes) -> None:
        """Write the elements of a constant."""
        if not data:
            return
        self._line("{")
        self._line("  const unsigned char bytes[] = {")
        for start in range(0, len(data), 24):
            self._line(f"    {', '.join(map(str, data[start : start + 24]))},")
        self._line("  };")
        self._line(f"  std::memcpy({name}.data(), bytes, sizeof bytes);")
        self._line("}")

    def _filling(self, buffer: Buffer) -> str:
        name, limits = self.host[buffer.name], self.knowledge.limits.get(buffer.name, ())
        if limits:
            least = self._extent(limits[0])
            for limit in limits[1:]:
                least = f"std::min<int64_t>({least}, {self._extent(limit)})"
            return f"fill_integers({name}, generator, 0, {least} - 1)"
        if buffer.element.is_float:
            return f"fill_floats({name}, generator, -1.0, 1.0)"
        if buffer.element.is_bool:
            return f"fill_integers({name}, generator, 0, 1)"
        low = 0 if buffer.element.is_unsigned else -_LARGEST_INTEGER
        return f"fill_integers({name}, generator, {low}, {_LARGEST_INTEGER})"

    def _memory(self) -> None:
        self._line(
            "// Memory of the device. Outputs start as garbage, so that an element that no thread writes is seen."
        )
        for buffer in self.program.of_kind("input"):
            self._line(f"{self._pointer(buffer)} = to_device({self.host[buffer.name]});")
        for buffer in self.program.of_kind("output"):
            kind = storage_name(buffer.element)
            self._line(f"{self._pointer(buffer)} = allocate<{kind}>({self._elements(buffer)});")
            self._line(f"std::vector<{kind}> {self.expected[buffer.name]}({self._elements(buffer)});")
        self._arena()
        if self.program.status_slots:
            words = STATUS_WORDS * self.program.status_slots
            self._line(f"std::vector<int64_t> status({words}), status_expected({words});")
            self._line("int64_t* d_status = to_device(status);")

    def _arena(self) -> None:
        temps = self.program.of_kind("arena")
        if not temps:
            return
        sizes = [self._extent(each) for each in maximum_dims(self.program.arena_bytes)]
        size = sizes[0] if len(sizes) == 1 else f"std::max<int64_t>({{{', '.join(sizes)}}})"
        self._line("// What lies between kernels shares one arena.")
        self._line(f"char* arena = allocate<char>({size});")
        self._line(f"std::vector<char> arena_expected({size});")
        for buffer in temps:
            kind, offset = storage_name(buffer.element), self._extent(buffer.offset)
            for name, base in ((self.device, "arena"), (self.expected, "arena_expected.data()")):
                place = base if offset == "0" else f"{base} + {offset}"
                self._line(f"{kind}* {name[buffer.name]} = reinterpret_cast<{kind}*>({place});")

    def _pointer(self, buffer: Buffer) -> str:
        return f"{storage_name(buffer.element)}* {self.device[buffer.name]}"

    def _run(self) -> None:
        generation = -1
        for kernel in self.program.kernels:
            if kernel.generation != generation:
                generation = kernel.generation
                self._line(f"// Generation {generation}.")
            self._launch(kernel)
        self._line("CHECK_CUDA(cudaDeviceSynchronize());")
        self._line("")
        self._line("// The same on the CPU.")
        for kernel in (each for each in self.program.kernels if not each.is_idle):
            arguments = ", ".join(self._arguments(kernel, self._expected_pointers(), "status_expected.data()"))
            self._line(f"{self.knowledge.kernels[kernel.symbol]}_reference({arguments});")

    def _expected_pointers(self) -> dict[str, str]:
        vectors = {buffer.name for kind in ("input", "output") for buffer in self.program.of_kind(kind)}
        return {name: f"{text}.data()" if name in vectors else text for name, text in self.expected.items()}

    def _launch(self, kernel: KernelLaunch) -> None:
        """Write a launch: of the first alternative whose guards hold, else of the kernel itself."""
        own, *others = kernel.launches
        ways = [*zip((self._held(each) for each in kernel.alternatives), others, strict=True), ("", own)]
        while ways and ways[-1][1].is_idle:
            ways.pop()  # what is not said is not launched
        if not others:
            for _, launch in ways:
                self._launch_one(launch, "")
            return
        start = ""
        for held, launch in ways:
            self._line(f"{start}if ({held}) {{" if held else f"{start}{{")
            if not launch.is_idle:
                self._launch_one(launch, "  ")
            start = "} else "
        if ways:
            self._line("}")

    def _held(self, alternative: Alternative) -> str:
        """The condition that the guards of an alternative hold."""
        guards = [(self._extent(each.lhs), each.predicate, self._extent(each.rhs)) for each in alternative.guards]
        return " && ".join(f"{lhs} {'==' if predicate == 'eq' else '<='} {rhs}" for lhs, predicate, rhs in guards)

    def _launch_one(self, kernel: KernelLaunch, indent: str) -> None:
        grid = ", ".join(self._extent(each) for each in kernel.grid)
        block = ", ".join(self._extent(each) for each in kernel.block)
        name = self.knowledge.kernels[kernel.symbol]
        maps = "".join(f",\n{indent}      {self._map(each)}" for each in kernel.tensor_maps)
        arguments = f"{', '.join(self._arguments(kernel, self.device, 'd_status'))}{maps}"
        shape, size = f"grid, dim3({block})", self._extent(kernel.dynamic_shared_bytes)
        self._line(f"{indent}if (const dim3 grid({grid}); has_blocks(grid)) {{")
        if size != "0":
            shape = f"{shape}, {size}"
            attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize"
            self._line(f"{indent}  CHECK_CUDA(cudaFuncSetAttribute({name}, {attribute}, {size}));")
        self._line(f"{indent}  {name}<<<{shape}>>>({arguments});")
        self._line(f"{indent}  CHECK_CUDA(cudaGetLastError());")
        self._line(f"{indent}}}")

    def _map(self, parameter: TensorMapParameter) -> str:
        """A tensor map, made for the launch."""
        tiling = parameter.tiling
        sizes = (tiling.dims, tiling.strides, tiling.box)
        lists = ", ".join(f"{{{', '.join(map(self._extent, each))}}}" for each in sizes)
        return f"tensor_map({self.device[parameter.buffer]}, {lists}, {tiling.swizzle})"

    def _arguments(self, kernel: KernelLaunch, pointers: Mapping[str, str], status: str) -> list[str]:
        """The arguments but tensor maps, which stand behind the others."""
        found: list[str] = []
        for parameter in kernel.parameters:
            if isinstance(parameter, Pointer):
                found.append(pointers[parameter.buffer])
            elif isinstance(parameter, Status):
                slot = STATUS_WORDS * parameter.slot
                found.append(f"{status} + {slot}" if slot else status)
            elif isinstance(parameter, ExtentValue):
                found.append(self._extent(parameter.value))
        return found

    def _check_indices(self) -> None:
        if self.program.status_slots:
            self._line("// Did a kernel meet an index that is out of range?")
            self._line("to_host(d_status, status);")
        for kernel in self.program.kernels:
            if kernel.status is not None:
                at = STATUS_WORDS * kernel.status.slot
                name = self.knowledge.kernels[kernel.symbol]
                for noted in ("status", "status_expected"):
                    self._line(f'if (has_noted("{name}", &{noted}[{at}])) return 3;')
        if not self.program.status_slots:
            self.lines.pop()

    def _compare(self) -> None:
        self._line("// Every output against what the CPU computed.")
        self._line("bool ok = true;")
        self._line("double max_abs_err = 0;")
        for buffer in self.program.of_kind("output"):
            name, kind = self.host[buffer.name], storage_name(buffer.element)
            self._line(f"std::vector<{kind}> {name}({self.expected[buffer.name]}.size());")
            self._line(f"to_host({self.device[buffer.name]}, {name});")
            base, terms = self.knowledge.base[buffer.name], self.knowledge.terms[buffer.name]
            count = self._extent(terms)
            count = f"double({count})" if set(count) & set(" ") else count
            growth = "0" if terms == 0 else f"2.0 * {count} * {self.knowledge.roundoff[buffer.name]}"
            label = string_text(self.wanted[buffer.name])
            self._line(
                f"ok &= agree<{buffer.element.c_name}>({label}, {name}, {self.expected[buffer.name]}, "
                f"{base!r}, {growth}, max_abs_err);"
            )
        self._line('printf("max_abs_err=%.6f\\n", max_abs_err);')
        self._line("")
        held = [self.device[b.name] for b in self.program.buffers if b.kind != "arena"]
        held += ["arena"] if self.program.of_kind("arena") else []
        held += ["d_status"] if self.program.status_slots else []
        for name in held:
            self._line(f"CHECK_CUDA(cudaFree({name}));")
        self._line("return ok ? 0 : 1;")
