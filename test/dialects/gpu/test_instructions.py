"""The table of PTX instructions: their texts, their registers, their names; ptxas takes each of them."""

import subprocess
import sys

import pytest

from tinyc.dialects.gpu.instructions import instruction, instruction_names, is_instruction

#: One of each family: its name, how its text begins, and the registers of its places.
TABLE = [
    ("cp.async.cg.16", "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}"),
    ("cp.async.commit_group", "cp.async.commit_group;", "~{memory}"),
    ("cp.async.wait_group.2", "cp.async.wait_group 2;", "~{memory}"),
    (
        "tma.load.2d",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];",
        "r,l,r,r,r,~{memory}",
    ),
    (
        "tma.load.1d.multicast",
        "{ .reg .b16 mask; cvt.u16.u32 mask, $4; cp.async.bulk.tensor.1d",
        "r,l,r,r,r,~{memory}",
    ),
    ("tma.store.3d", "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [$1, {$2, $3, $4}], [$0];", None),
    ("bulk.commit_group", "cp.async.bulk.commit_group;", "~{memory}"),
    ("bulk.wait_group.0", "cp.async.bulk.wait_group 0;", "~{memory}"),
    ("bulk.wait_group.read.1", "cp.async.bulk.wait_group.read 1;", "~{memory}"),
    ("prefetch.tensormap", "prefetch.tensormap [$0];", "l,~{memory}"),
    ("ldmatrix.x2.trans", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"),
    ("stmatrix.x2", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$0], {$1, $2};", "r,r,r,~{memory}"),
    (
        "mma.sync.m16n8k16.f32.f16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};",
        "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3",
    ),
    (
        "wgmma.m64n8k16.f32.bf16.ta.tb",
        "{ .reg .pred p; setp.ne.b32 p, $6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, "
        "$4, $5, p, 1, 1, 1, 1;",
        "=f,=f,=f,=f,l,l,r,0,1,2,3,~{memory}",
    ),
    (
        "wgmma.m64n8k32.s32.s8.ra",
        "{ .reg .pred p; setp.ne.b32 p, $9, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, "
        "{$4, $5, $6, $7}, $8, p;",
        "=r,=r,=r,=r,r,r,r,r,l,r,0,1,2,3,~{memory}",
    ),
    ("wgmma.fence.4xf32", "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,0,1,2,3,~{memory}"),
    ("wgmma.fence.4xf32.ra.4", "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,r,r,r,r,0,1,2,3,~{memory}"),
    ("wgmma.fence.ra.4", "wgmma.fence.sync.aligned;", "r,r,r,r,~{memory}"),
    ("wgmma.commit_group", "wgmma.commit_group.sync.aligned;", "~{memory}"),
    ("wgmma.wait_group.1.4xi32", "wgmma.wait_group.sync.aligned 1;", "=r,=r,=r,=r,0,1,2,3,~{memory}"),
    (
        "wgmma.wait_group.0.4xi32.ra.4",
        "wgmma.wait_group.sync.aligned 0;",
        "=r,=r,=r,=r,r,r,r,r,0,1,2,3,~{memory}",
    ),
    ("mbarrier.init", "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}"),
    ("mbarrier.expect_tx", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"),
    ("mbarrier.arrive", "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"),
    ("mbarrier.arrive.remote", "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, $0, $1;", "r,r,~{memory}"),
    ("mbarrier.wait", "{ .reg .pred done; wait: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;", None),
    ("fence.mbarrier_init", "fence.mbarrier_init.release.cluster;", "~{memory}"),
    ("fence.proxy.async", "fence.proxy.async.shared::cta;", "~{memory}"),
    ("barrier.sync", "bar.sync $0, $1;", "r,r,~{memory}"),
    ("barrier.warp", "bar.warp.sync -1;", "~{memory}"),
    ("barrier.arrive", "bar.arrive $0, $1;", "r,r,~{memory}"),
    ("cluster.arrive", "barrier.cluster.arrive.release.aligned;", "~{memory}"),
    ("cluster.arrive.relaxed", "barrier.cluster.arrive.relaxed.aligned;", "~{memory}"),
    ("cluster.wait", "barrier.cluster.wait.acquire.aligned;", "~{memory}"),
    ("cluster.rank", "mov.u32 $0, %cluster_ctarank;", "=r"),
    ("ld.shared.64", "ld.shared.v2.b32 {$0, $1}, [$2];", "=r,=r,r,~{memory}"),
    ("st.shared.16", "{ .reg .b16 part; cvt.u16.u32 part, $1; st.shared.b16 [$0], part;", "r,r,~{memory}"),
    ("st.global.128", "st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"),
    ("elect", "{ .reg .pred p; elect.sync _|p, -1;", "=r,~{memory}"),
    ("setmaxnreg.dec.40", "setmaxnreg.dec.sync.aligned.u32 40;", "~{memory}"),
    ("cvt.pack.f16", "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f"),
    ("cvt.tf32", "cvt.rna.tf32.f32 $0, $1;", "=r,r"),
    ("ld.acquire", "ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}"),
    (
        "semaphore.wait.if",
        "{ .reg .pred idle, early; .reg .b32 turn; setp.eq.b32 idle, $2, 0; @idle bra there; poll:",
        "l,r,r,~{memory}",
    ),
    ("red.release", "red.release.gpu.global.add.u32 [$0], $1;", "l,r,~{memory}"),
    (
        "mbarrier.arrive.if",
        "{ .reg .pred run; setp.ne.b32 run, $1, 0; @run mbarrier.arrive.shared::cta.b64 _, [$0];",
        None,
    ),
]
#: What sm_80 has, by how names begin.
OF_SM_80 = ("cp.async.", "ldmatrix.", "mma.", "barrier.", "ld.", "st.", "cvt.", "red.", "semaphore.", "mbarrier.init")


@pytest.mark.parametrize(("name", "text", "registers"), TABLE)
def test_an_instruction_has_its_text_and_its_registers(name, text, registers):
    entry = instruction(name)
    assert " ".join(entry.asm.split()).startswith(text)
    if registers is not None:
        assert entry.constraints == registers


@pytest.mark.parametrize(
    "name", ["wgmma.m64n260k16.f32.f16", "wgmma.m64n40k32.s32.s8", "setmaxnreg.inc.25", "ld.shared.16.if"]
)
def test_what_hardware_does_not_have_is_no_instruction(name):
    assert instruction(name) is None


def test_each_name_is_of_one_instruction():
    names = instruction_names()
    assert len(set(names)) == len(names)
    assert {name for name, *_ in TABLE} <= set(names)
    assert all(instruction(name).name == name for name in names)


def test_a_text_that_no_one_has_asked_for_by_name_is_an_instruction():
    entry = instruction("wgmma.m64n104k16.f32.f16.tb")
    asked = f"is_instruction({entry.asm!r}, {entry.constraints!r})"
    source = f"from tinyc.dialects.gpu.instructions import is_instruction; print({asked})"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_another_text_is_none():
    entry = instruction("cp.async.cg.16")
    assert is_instruction(entry.asm, entry.constraints)
    assert not is_instruction(entry.asm.replace("16", "32"), entry.constraints)
    assert not is_instruction(entry.asm, "r,r,r")


# --- ptxas ------------------------------------------------------------------------------------------------------------

_KINDS = {"i32": "b32", "i64": "b64", "f32": "f32"}


def kernel_of(number, name):
    """A kernel of one instruction, whose operands are loaded and whose results are stored; products are waited for."""
    entry = instruction(name)
    places = [*entry.given, *entry.operands]
    declared = [f".reg .{_KINDS[kind]} v{at};" for at, kind in enumerate(places)]
    loads = [f"ld.global.{_KINDS[kind]} v{at}, [memory+{8 * at}];" for at, kind in enumerate(places)]
    stores = [f"st.global.{_KINDS[kind]} [memory+{8 * at}], v{at};" for at, kind in enumerate(entry.given)]
    is_product = name.startswith("wgmma.m")
    before = ["wgmma.fence.sync.aligned;"] if is_product else []
    behind = ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"] if is_product else []
    start = [".reg .b64 memory;", "ld.param.b64 memory, [address];"]
    lines = [*declared, *start, *loads, *before, entry.text(lambda at: f"v{at}"), *behind, *stores, "ret;"]
    return "\n".join([f".visible .entry k{number}(.param .b64 address) .maxntid 128 {{", *lines, "}"])


def samples(begins=""):
    """The first and the last instruction of each family, and all of those that have few."""
    found = {}
    for name in instruction_names():
        if name.startswith(begins):
            found.setdefault("".join(c for c in name if not c.isdigit()), []).append(name)
    return [name for names in found.values() for name in (names if len(names) <= 8 else (names[0], names[-1]))]


@pytest.mark.parametrize(
    ("arch", "names"), [("sm_80", samples(OF_SM_80)), ("sm_90a", samples())], ids=["sm_80", "sm_90a"]
)
def test_ptxas_takes_each_instruction(arch, names, ptxas):
    kernels = "\n".join(kernel_of(*each) for each in enumerate(names))
    text = f".version 8.0\n.target {arch}\n.address_size 64\n{kernels}\n"
    assert len(ptxas(text, arch).kernels) == len(names)
