"""Targets: what a module may use is what its `.target` has, as `ptxas -arch` says."""

import pytest

import ptxsim
from ptxsim import PtxError
from ptxsim.errors import InputError
from ptxsim.parsing.parser import parse
from ptxsim.parsing.targets import check_target
from ptxsim_cases.kernel_text import kernel, launch

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100")


def module(body, target, directives=""):
    return kernel(body, "", directives=directives).replace(".target sm_90a", f".target {target}")


def has(target, body):
    """Whether a target has the instructions."""
    try:
        check_target(parse(module(body, target)))
    except PtxError:
        return False
    return True


# The targets are those from which on ptxas 13.0 assembles the instruction.
@pytest.mark.parametrize(
    ("instruction", "target"),
    [
        ("add.f32 %r0, %r1, %r2;", "sm_75"),
        ("fence.acq_rel.gpu;", "sm_75"),
        ("cvta.shared.u64 %d0, %d1;", "sm_75"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];", "sm_75"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3},{%r4,%r5},{%r6},{%r0,%r1,%r2,%r3};",
            "sm_75",
        ),
        ("atom.global.add.noftz.f16 %h0, [%d0], %h1;", "sm_75"),
        ("wmma.load.a.sync.aligned.row.m8n32k16.global.s8 {%r0}, [%d0];", "sm_75"),
        ("wmma.load.a.sync.aligned.row.m8n32k16.global.bf16 {%r0, %r1}, [%d0];", "sm_80"),
        ("wmma.load.b.sync.aligned.row.m8n8k4.global.f64 {%d1}, [%d0];", "sm_80"),
        ("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};", "sm_75"),
        ("wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};", "sm_80"),
        ("cp.async.ca.shared.global [%r0], [%d0], 16;", "sm_80"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];", "sm_80"),
        ("mbarrier.init.shared.b64 [%r0], 1;", "sm_80"),
        ("mbarrier.arrive.shared.b64 %d0, [%r0];", "sm_80"),
        ("mbarrier.arrive.noComplete.shared.b64 %d0, [%r0], 3;", "sm_80"),
        ("mbarrier.arrive.shared.b64 %d0, [%r0], 3;", "sm_90"),
        ("mbarrier.arrive.expect_tx.shared.b64 %d0, [%r0], 3;", "sm_90"),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %d0;", "sm_80"),
        ("mbarrier.try_wait.shared.b64 %p0, [%r0], %d0;", "sm_90"),
        ("redux.sync.add.s32 %r0, %r1, -1;", "sm_80"),
        ("fma.rn.bf16 %h0, %h1, %h2, %h0;", "sm_80"),
        ("add.rn.bf16 %h0, %h1, %h2;", "sm_90"),
        ("cvt.rn.bf16.f32 %h0, %r0;", "sm_80"),
        ("cvt.f32.bf16 %r0, %h0;", "sm_80"),
        ("cvt.rn.bf16.s32 %h0, %r0;", "sm_90"),
        ("cvt.f64.bf16 %d0, %h0;", "sm_90"),
        ("cvt.rna.tf32.f32 %r0, %r1;", "sm_80"),
        ("cvt.rn.tf32.f32 %r0, %r1;", "sm_90"),
        ("max.xorsign.abs.f32 %r0, %r1, %r2;", "sm_86"),
        ("cvt.rn.satfinite.e4m3x2.f32 %h0, %r0, %r1;", "sm_89"),
        ("setp.lt.bf16 %p0, %h0, %h1;", "sm_90"),
        ("atom.global.add.noftz.bf16x2 %r0, [%d0], %r1;", "sm_90"),
        ("red.global.add.v2.f32 [%d0], {%r0, %r1};", "sm_90"),
        ("atom.global.exch.b128 %q0, [%d0], %q1;", "sm_90"),
        ("max.s16x2 %r0, %r1, %r2;", "sm_90"),
        ("max.s32.relu %r0, %r1, %r2;", "sm_90"),
        ("ld.relaxed.cluster.global.u32 %r0, [%d0];", "sm_90"),
        ("mapa.u64 %d0, %d1, %r0;", "sm_90"),
        ("barrier.cluster.arrive;", "sm_90"),
        ("fence.proxy.async;", "sm_90"),
        ("fence.mbarrier_init.release.cluster;", "sm_90"),
        ("cp.async.bulk.commit_group;", "sm_90"),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};", "sm_90"),
        ("elect.sync %r0|%p0, -1;", "sm_90"),
        ("griddepcontrol.wait;", "sm_90"),
        ("mov.u32 %r0, %cluster_ctarank;", "sm_90"),
        ("mov.u32 %r0, %reserved_smem_offset_begin;", "sm_80"),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0,%d1},{%d2},{%d3},{%d0,%d1};", "sm_80"),
        ("add.rn.f32x2 %d0, %d1, %d2;", "sm_100"),
        ("ld.global.v8.f32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%d0];", "sm_100"),
    ],
)
def test_an_instruction_has_a_first_target(instruction, target):
    body = f"{instruction} ret;"
    assert [each for each in TARGETS if has(each, body)] == list(TARGETS[TARGETS.index(target) :])


@pytest.mark.parametrize("instruction", ["wgmma.fence.sync.aligned;", "setmaxnreg.inc.sync.aligned.u32 64;"])
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_what_only_sm_90a_has_no_other_target_has(instruction, target):
    ptxsim.load(module(f"{instruction} ret;", "sm_90a"))
    with pytest.raises(PtxError, match=f"needs .target sm_90a; the module is for {target}") as error:
        ptxsim.load(module(f"\n\n{instruction} ret;", target))
    assert (
        error.value.line
        == module(f"\n\n{instruction} ret;", target)[: -len(f"{instruction} ret;\n}}\n")].count("\n") + 1
    )


@pytest.mark.parametrize("directive", [".reqnctapercluster 2", ".explicitcluster", ".maxclusterrank 2"])
def test_a_directive_of_clusters_needs_their_target(directive):
    ptxsim.load(module("ret;", "sm_90", directive))
    with pytest.raises(PtxError, match=r"needs .target sm_90 or higher; the module is for sm_80"):
        ptxsim.load(module("ret;", "sm_80", directive))


def test_a_cluster_launch_needs_a_module_for_its_target():
    shape = {"grid": (2, 1, 1), "cluster": (2, 1, 1)}
    assert launch(module("ret;", "sm_90"), [], 1, **shape).ok
    assert launch(module("ret;", "sm_89"), [], 1, grid=(2, 1, 1), cluster=(1, 1, 1)).ok
    with pytest.raises(InputError, match=r"the module is for sm_89, and clusters need sm_90"):
        launch(module("ret;", "sm_89"), [], 1, **shape)


@pytest.mark.parametrize(
    ("head", "message", "line", "column"),
    [
        (".version 8.5\n.target sm_80\n.address_size 32", "addresses of 64 bits are modelled, not of 32", 3, 15),
        (".version 7.8\n.target sm_80", "PTX 8.x and 9.x are modelled, not 7.8", 1, 10),
        (".version 10.0\n.target sm_80", "PTX 8.x and 9.x are modelled, not 10.0", 1, 10),
        (".version 8.5\n.target compute_80", "expected a target such as sm_90a, found 'compute_80'", 2, 9),
        (".version 8.5\n.target sm_9000", "expected a target such as sm_90a", 2, 9),
    ],
)
def test_a_module_that_is_not_modelled_is_an_error_with_its_place(head, message, line, column):
    with pytest.raises(PtxError, match=message) as error:
        ptxsim.load(head)
    assert (error.value.line, error.value.column) == (line, column)
