"""What code needs of a CPU is what LLVM was allowed to use, and a CPU that lacks some of it is refused by name."""

import re

import pytest

from runtime.tile_code import tile_code
from tinyc.diagnostics import TinycError
from tinyc.runtime import cpu_features
from tinyc.runtime.cpu_features import (
    checked_cpu,
    flags_of,
    level_features,
    machine_cpu,
    machine_identity,
    require_machine,
    usable_features,
)
from tinyc.runtime.jit import _binding, assembly_of, compile_object

#: Sums of products, which LLVM makes vectors of.
LLVM_IR = """
define void @kernel.f(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %a = load float, ptr %from
  %b = load float, ptr %to
  %c = call float @llvm.fma.f32(float %a, float %a, float %b)
  store float %c, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare float @llvm.fma.f32(float, float, float)
"""
#: The machine of an ELF file, in its bytes 18 and 19.
EM_AARCH64 = 183
#: Level of x86-64 → flags that it is the first to have, and registers that code for it has.
LEVELS = {
    "x86-64": ((), "xmm"),
    "x86-64-v2": (("cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"), "xmm"),
    "x86-64-v3": (("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"), "ymm"),
    "x86-64-v4": (("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"), "zmm"),
}


def registers(cpu):
    """Return the kinds of vector registers in the assembly for a CPU."""
    return set(re.findall(r"%([xyz]mm)\d", assembly_of(LLVM_IR, cpu)))


@pytest.mark.parametrize("cpu", LEVELS)
def test_a_level_needs_its_flags_and_uses_no_more(cpu):
    made = compile_object(LLVM_IR, cpu)
    known = list(LEVELS)[: list(LEVELS).index(cpu) + 1]
    assert made.flags == tuple(sorted(flag for level in known for flag in LEVELS[level][0]))
    assert made.cpu == cpu
    widest = max(registers(cpu))
    assert widest <= LEVELS[cpu][1], "wider registers than the level has"


def test_code_for_this_machine_needs_what_it_has():
    made = compile_object(LLVM_IR)
    require_machine(made.flags)
    assert made.cpu == _binding().get_host_cpu_name()


def test_a_cpu_that_is_no_level_is_refused():
    known = "choose 'host', 'x86-64', 'x86-64-v2', 'x86-64-v3', 'x86-64-v4' or 'aarch64'; 'host' is this machine's"
    with pytest.raises(TinycError, match=f"'cpu' is 'i486'; {known}") as caught:
        compile_object(LLVM_IR, "i486")
    assert caught.value.name == "UnsupportedTarget"


@pytest.mark.parametrize(
    ("cpu", "flags"),
    [
        ("x86-64-v3+avxvnni", {"avx_vnni"}),
        ("x86-64-v3+avxvnniint8", {"avx_vnni", "avx_vnni_int8"}),
        ("x86-64-v4+avx512bf16+avx512vnni", {"avx512_bf16", "avx512_vnni"}),
        ("x86-64-v4+amx", {"avx512_bf16", "avx512_vnni"}),
    ],
)
def test_a_level_may_have_more(cpu, flags):
    made, level = compile_object(LLVM_IR, cpu), compile_object(LLVM_IR, cpu_features.level_of(cpu))
    assert (made.cpu, set(made.flags) - set(level.flags)) == (cpu, flags)


@pytest.mark.parametrize(("dot", "flag"), [("tdpbssd", "amx_int8"), ("tdpbf16ps", "amx_bf16")])
def test_code_needs_those_tiles_that_it_has(dot, flag):
    plain = compile_object(LLVM_IR, "x86-64-v4+amx")
    made = compile_object(tile_code(dot), "x86-64-v4+amx")
    assert set(made.flags) - set(plain.flags) == {"amx_tile", flag}


def test_a_name_may_leave_out_the_architecture():
    assert checked_cpu("v4+amx") == "x86-64-v4+amx"
    assert checked_cpu("v3") == "x86-64-v3"
    assert level_features("v4+amx") == level_features("x86-64-v4+amx")


def test_a_host_that_is_no_x86_64_is_told_what_to_choose(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(TinycError, match="'cpu' is 'host', and this machine is no x86-64; choose 'x86-64', ") as caught:
        level_features("host")
    assert caught.value.name == "UnsupportedTarget"


@pytest.mark.parametrize(
    ("cpu", "message"),
    [
        ("x86-64-v3+amx", "'x86-64-v3' may have '\\+avxvnniint8' or '\\+avxvnni' behind it"),
        ("x86-64-v2+avxvnni", "'x86-64-v2' may have nothing behind it"),
        ("v4+", "'x86-64-v4' may have '\\+amx', '\\+avx512vnni' or '\\+avx512bf16' behind it"),
        ("v5", "'cpu' is 'x86-64-v5'; choose 'host'"),
    ],
)
def test_what_a_level_may_not_have_is_refused(cpu, message):
    with pytest.raises(TinycError, match=message) as caught:
        checked_cpu(cpu)
    assert caught.value.name == "UnsupportedTarget"


ALL_OF_V4 = [flag for flags, _ in LEVELS.values() for flag in flags]
TILES = ["amx_tile", "amx_bf16", "amx_int8"]


@pytest.mark.parametrize(
    ("flags", "may_use_tiles", "cpu"),
    [
        (["avx512_vnni", "avx512_bf16", *TILES, "avx_vnni"], True, "x86-64-v4+amx"),
        (["avx512_vnni", "avx512_bf16", *TILES], False, "x86-64-v4+avx512vnni+avx512bf16"),
        (["avx512_vnni"], True, "x86-64-v4+avx512vnni"),
        ([], True, "x86-64-v4"),
    ],
)
def test_a_machine_is_the_cpu_that_its_flags_say(monkeypatch, tmp_path, flags, may_use_tiles, cpu):
    on(monkeypatch, tmp_path, " ".join([*ALL_OF_V4, *flags]))
    monkeypatch.setattr(cpu_features, "_are_tiles_permitted", lambda: may_use_tiles)
    assert machine_cpu() == cpu
    assert ("amx-tile" in usable_features(["avx", "amx-tile"])) == (may_use_tiles and "amx_tile" in flags)
    require_machine(flags_of(level_features(cpu)))
    assert level_features("host") == level_features(cpu)


def test_a_machine_that_may_not_use_its_tiles_has_none_and_is_another_one(monkeypatch, tmp_path):
    on(monkeypatch, tmp_path, " ".join([*ALL_OF_V4, "avx512_vnni", "avx512_bf16", *TILES]))
    monkeypatch.setattr(cpu_features, "_are_tiles_permitted", lambda: True)
    identity = machine_identity()
    monkeypatch.setattr(cpu_features, "_are_tiles_permitted", lambda: False)
    assert machine_identity() != identity, "what was compiled for it with tiles is not taken from the cache"
    with pytest.raises(TinycError, match="needs a CPU with amx_tile"):
        require_machine(["amx_tile"])


def test_code_for_aarch64_is_compiled_in_its_vectors_and_not_loaded_here():
    made = compile_object(LLVM_IR, "aarch64")
    assert int.from_bytes(made.image[18:20], "little") == EM_AARCH64
    assert (made.cpu, made.flags) == ("aarch64", ())
    assert re.search(r"fmla\s+v\d+\.4s", assembly_of(LLVM_IR, "aarch64"))
    with pytest.raises(TinycError, match="the model's code is for aarch64, and what is loaded here is code for x86-64"):
        require_machine(made.flags, "aarch64")


def on(monkeypatch, tmp_path, flags):
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: avx512f\n")
    monkeypatch.setattr(cpu_features, "_CPUINFO", tmp_path / "cpuinfo")


def test_a_machine_that_lacks_features_is_told_which_and_a_level_that_it_has(monkeypatch, tmp_path):
    on(monkeypatch, tmp_path, " ".join(("fpu", "sse2", *LEVELS["x86-64-v2"][0], "avx")))
    require_machine(LEVELS["x86-64-v2"][0])
    with pytest.raises(TinycError, match=r"needs a CPU with avx2, avx512f, which .*cpuinfo does not list") as caught:
        require_machine(("avx", "avx2", "avx512f"))
    assert caught.value.name == "UnsupportedTarget"
    assert caught.value.message.endswith("compile the program here, or save the model with cpu='x86-64-v2'")


def test_a_machine_that_does_not_tell_is_one_without_features(monkeypatch, tmp_path):
    monkeypatch.setattr(cpu_features, "_CPUINFO", tmp_path / "nothing")
    require_machine(())
    with pytest.raises(TinycError, match=r"needs a CPU with avx, .* save the model with cpu='x86-64'"):
        require_machine(("avx",))


def test_a_machine_of_another_architecture_is_refused(monkeypatch):
    monkeypatch.setattr(cpu_features.platform, "machine", lambda: "aarch64")
    with pytest.raises(TinycError, match="code is for x86-64, and this machine is aarch64; compile for target 'sim'"):
        require_machine(())
