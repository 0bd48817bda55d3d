"""Kernels at the level of statements, run in numpy: tile by tile, not thread by thread.

What runs is a *team*: the threads of a CTA, or of a warpgroup with a role of its own, that do a statement together. The
teams of a cluster run as coroutines: each until it waits for another. Copies and products that go on beside the
threads are done at once, but whoever uses what they give must know it to be there: by the waits, barriers and fences
that the hardware needs. What is used without is a fault. Reading order:

    events        what has happened, and who knows: the tokens that waits and barriers hand on
    stages        the tiles of a CTA in shared memory: what fills them, what reads them, whether that is in order
    mbarriers     phases that end with arrivals and bytes
    schedule      coroutines side by side, and who waits for whom where nothing goes on
    launch        a kernel's arguments: the tensors of bodies, matrices in buffers, outputs
    team          a team's control flow, and what a value is
    waiting       the statements by which teams wait for each other, and for what goes on beside them
    places        where the elements of a tile are: in a tensor, or in a matrix in a buffer
    copies        the statements that move tiles to shared memory, and from it to outputs by TMA
    products      the statements that multiply
    workspaces    the statements that hand on partial sums, and by which CTAs take turns
    results       the statements that finish accumulators and write outputs
    grid          `run_tile_kernel`: a grid, cluster by cluster
"""
