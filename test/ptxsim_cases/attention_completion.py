"""What the kernel of `data/recipes/sm90_attention_consumer.ptx` lacks, as changes to its text.

It is the half of an attention kernel that multiplies, and even that half is wrong. Each of these is missing in it, and
`test_recipes.py` shows each:

* PTX ISA, "mbarrier": an mbarrier object must be initialised before it is used. Nothing initialises the barriers that
  the consumers wait for, and nothing ever arrives at them: the warpgroup of the producer only gives up registers. Its
  tensor maps are never read. Here: Q by the first of them, K and V, one after the other, by the second.
* PTX ISA, `wgmma.fence`: it must stand between an access to the registers of an accumulator and the next
  wgmma.mma_async that uses them. LLVM has put the zeros of S behind the fence.
* Arithmetic: each lane sums the exponentials of its own columns, a quarter of each of its two rows, and
  divides by that sum. The four lanes that share a row never add theirs.
"""

from ptxsim_cases.case import Mutation

_BARRIERS = """\\g<0>
	{
	.reg .pred other;
	.reg .b32 at;
	setp.ne.u32 other, %r1, 0;
	@other bra READY;
	mov.u32 at, dsmem;
	mbarrier.init.shared.b64 [at+163840], 1;
	mbarrier.init.shared.b64 [at+163848], 1;
	mbarrier.init.shared.b64 [at+163872], 1;
	mbarrier.init.shared.b64 [at+163880], 1;
	mbarrier.init.shared.b64 [at+163904], 8;
	mbarrier.init.shared.b64 [at+163912], 8;
	mbarrier.init.shared.b64 [at+163936], 8;
	mbarrier.init.shared.b64 [at+163944], 8;
	fence.mbarrier_init.release.cluster;
READY:
	bar.sync 0;
	}"""
_LOAD = "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
_PRODUCER = f"""\\g<0>
	{{
	.reg .pred other, free, more;
	.reg .b32 at, full, place, tile, tiles, stage, row, half, parity, zero;
	.reg .b64 q, kv;
	setp.ne.u32 other, %r1, 0;
	@other bra DONE;
	ld.param.b32 tiles, [fa_param_4];
	mov.b64 q, fa_param_0;
	cvta.param.u64 q, q;
	mov.b64 kv, fa_param_1;
	cvta.param.u64 kv, kv;
	mov.u32 at, dsmem;
	mov.u32 zero, 0;
	mov.u32 row, %ctaid.x;
	shl.b32 row, row, 7;
	mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [at+163840], 32768;
	{_LOAD} [at], [q, {{zero, row, zero}}], [at+163840];
	mov.u32 tile, 0;
AGAIN:
	and.b32 stage, tile, 1;
	shr.u32 parity, tile, 1;
	not.b32 parity, parity;
	and.b32 parity, parity, 1;
	shl.b32 full, stage, 3;
	add.u32 full, full, at;
	shl.b32 place, stage, 15;
	add.u32 place, place, at;
	shl.b32 row, tile, 7;
KEYS:
	mbarrier.try_wait.parity.shared.b64 free, [full+163904], parity;
	@!free bra KEYS;
	mbarrier.arrive.expect_tx.shared.b64 _, [full+163840], 32768;
	{_LOAD} [place+32768], [kv, {{zero, row, zero}}], [full+163840];
	shl.b32 half, tiles, 7;
	add.u32 row, row, half;
VALUES:
	mbarrier.try_wait.parity.shared.b64 free, [full+163936], parity;
	@!free bra VALUES;
	mbarrier.arrive.expect_tx.shared.b64 _, [full+163872], 32768;
	{_LOAD} [place+98304], [kv, {{zero, row, zero}}], [full+163872];
	add.u32 tile, tile, 1;
	setp.lt.u32 more, tile, tiles;
	@more bra AGAIN;
DONE:
	}}"""
_SUMS = """\\g<0>
	{
	.reg .b32 other;
	shfl.sync.bfly.b32 other, %r576, 1, 31, -1;
	add.rn.f32 %r576, %r576, other;
	shfl.sync.bfly.b32 other, %r576, 2, 31, -1;
	add.rn.f32 %r576, %r576, other;
	shfl.sync.bfly.b32 other, %r577, 1, 31, -1;
	add.rn.f32 %r577, %r577, other;
	shfl.sync.bfly.b32 other, %r577, 2, 31, -1;
	add.rn.f32 %r577, %r577, other;
	}"""
BARRIERS = Mutation("the barriers are initialised", r"^\s*mov\.u32\s+%r1, %tid\.x;", (), 0, _BARRIERS)
PRODUCER = Mutation("the tiles are loaded", r"^\s*setmaxnreg\.dec\.sync\.aligned\.u32\s+40;", (), 0, _PRODUCER)
FENCE = Mutation(
    "the zeros are before a fence", r"^wgmma\.mma_async", (), 0, "wgmma.fence.sync.aligned;\nwgmma.mma_async"
)
SUMS = Mutation("the sums of a row are added", r"^\$L__BB0_9:", (), 0, _SUMS)
COMPLETIONS = (BARRIERS, PRODUCER, FENCE, SUMS)
