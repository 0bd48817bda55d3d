"""The engine: the threads of a launch run through flat code, and every instruction acts on many of them at once.

In: `linking.code.Code`, memory and arguments. Out: changed memory, findings, tallies. Arrays are over [warps, 32].

The files, in the order in which they are best read:

    handlers         opcode → the function that compiles it; what has none is arithmetic, of `semantics/`
    compile          flat code → `executable.Executable`: a closure (`Step`) for each instruction, and the straight runs
    barrier_marks    where it is seen whether threads come to aligned barriers together; `machine.rounds` says how
    telling_reads    loads and atomics whose value decides something
    schedule, grid   which threads of a CTA run next; which CTAs run, and what happens where none can go on
    time_outs, deadlock, spin_loops   waits that are bounded; threads that never end; the loops that they spin in

The life of an instruction, `@%p1 st.shared.u32 [%r1], %r2;`:

1. When its kernel is asked for, `compile` makes a `machine.site.Site` of it and asks the handler of its opcode for a
   step. The handler (`instructions.loads.compile_store`) takes modifiers and operands apart and raises PtxError for
   what the ISA does not have; the site gives it readers and writers, functions of a `Batch`, and notes which
   registers they touch.
2. The step is wrapped, where that is needed: by `wgmma.registers` if a `wgmma` uses one of its registers, by
   `definedness` if one of them may be unwritten, by its guard, which narrows the batch, and by `machine.rounds` if it
   has marks.
3. When the kernel runs, `grid.run_turns` gets a batch from `schedule`: the threads at the lowest program counter. It
   calls the steps of a straight run one after the other. A step that returns True has set the program counters itself
   (a branch, a barrier, lanes that wait for others), and the batch ends there. Then the observer is told what ran.
4. The step reads the addresses and values of all lanes and calls `Access.store`, which finds the memories, counts,
   looks at their shadow, reports lanes whose address is bad, tells the observer, and writes the bytes.
5. A report (`Batch.report`, `Cta.report`) comes to `Findings`, which drops the kinds that no check asked for.
6. Threads that wait are not ready: for lanes of their warp in `Cta.converging`, for all else in a `Wait`, from
   `Cta.block` until `Cta.release`. Where no thread of a CTA is ready, its copies land. Where none of the launch is,
   misused barriers take what has come and waits time out; then all is at its end, and reported as a deadlock.

To add a family of instructions: a file with `HANDLERS`, listed in `handlers`. State that it keeps for a CTA is a class
made of the CTA, got by `Cta.state_of`.
"""
