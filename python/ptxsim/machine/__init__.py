"""The state of a launch, and what one instruction is compiled against.

In: `linking.code.Code`, memory. Out: `Site`s for those who compile instructions, batches of threads for those who run.
Arrays are over [warps, 32 lanes]. The files, in reading order:

    warp             32 lanes
    observer         what a check is told while the kernel runs, and what it sees of CTAs and batches
    findings, shared_names, misuse   what is reported; what an address is called; what the pure rules raise
    launch           what all CTAs share
    copies_in_flight bulk and tensor copies under way, which land late
    cta              the state of one CTA (registers, memory, places, who waits), and threads that act together
    flow             how undefined values spread through one instruction
    site, specials   one instruction while it is compiled: how its operands are read and written; special registers
    addresses, memory_form, access   operands and modifiers of loads and stores; from addresses to bytes, with checks
    convergence      lanes of a warp that must converge
    tally            the counters of a finished launch
"""
