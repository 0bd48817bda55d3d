"""What each line of PTX costs, from the SASS that ptxas makes of it. `kernel_costs` is where to start.

In: PTX text, an architecture, a kernel's name. Out: `KernelCost`, frozen data. Reading order:

    toolchain      ptxas and nvdisasm: where they are, what they say
    control        bits 105 to 125 of an instruction: stall, scoreboards
    listing        the disassembly → instructions with their PTX lines, basic blocks
    pipes          where an instruction runs, its latency, how well it anchors its line
    resources      registers, spills, shared memory, warnings
    graph          dominators and loops of basic blocks
    straight_runs  the runs of the PTX
    anchor_lines   lines that ptxas has wrong: HGMMA, first tests of a wait
    multiplicity   how many instructions one `mma` or `wmma` is
    merged_accesses  how many loads or stores of a line one access of the SASS is, and lines of which that is open
    homes          which run a block executes, and what line an instruction is charged to
    scoreboards    on what an instruction waits
    register_banks which registers are read of each bank
    line_costs     the data that comes out
    attribution    all of that together: costs, copies, variants of runs; the check of the sums
    class_weights  the same data without ptxas: an estimate with bounds
    loop_invariants  what ptxas moves out of loops
    kernel_costs   PTX in, `KernelCost` out; keeps what it has made
"""
