"""Which of several kernels would be fastest for one launch: few steps of each, in parallel, kept by content.

In: candidates, a device. Out: `RankedKernel`s, best first. Reading order:

    candidates       a launch of a kernel, and the same launch with fewer steps of its loop
    transport        a launch as bytes for another process: arrays of zeros as their shapes
    digests          what tells launches apart, and one version of the clock from another
    estimate_json    an `Estimate` as JSON and back
    estimate_store   estimates in a folder, a file each
    rank             all of that together: `rank_kernels`
"""
