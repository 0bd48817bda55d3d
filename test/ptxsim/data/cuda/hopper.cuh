// One function for one instruction of sm_90: addresses and barriers of shared memory, bulk copies, proxies.
#pragma once

struct alignas(64) TensorMap {  // what the driver makes; opaque here
  unsigned char bytes[128];
};

#define DEVICE __device__ __forceinline__

DEVICE unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

DEVICE void init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
DEVICE void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
DEVICE void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n\t.reg .pred complete;\n"
      "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t"
      "@!complete bra again;\n\t}" ::"r"(barrier), "r"(parity) : "memory");
}

DEVICE unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
DEVICE unsigned at_rank(unsigned address, unsigned rank) {  // of the same variable in another block of the cluster
  unsigned remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}
DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

DEVICE void load_tile(unsigned to, const TensorMap* map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
DEVICE void commit_copies() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
DEVICE void wait_copies() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
DEVICE void wait_copies_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
