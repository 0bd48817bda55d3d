"""Region → exec: the lowering of the host, whatever layer its kernels are in.

In reading order:

    lowering    the pass: the host function becomes an `exec.function`
    host        the host function as data: its buffers in the arena, its launches in generations
    const_pool  what of it is kept between runs, and which launches run once

What a launch is comes from the kernel's layer, as a `tinyc.dialects.launch.LaunchContract`.
"""
