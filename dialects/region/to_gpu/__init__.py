"""`--region-to-gpu`: each `region.kernel` becomes a `gpu.func` of statements over tiles, as its plan says.

What a kernel looks like is its scheme's: `tinyc.schemes` has a folder for each, whose `build` writes the statements.
Here is what all of them share.

In reading order:

    lowering        the pass
    requirements    what a region must be to become a GPU kernel
    plans           the target, and each kernel's complete plan
    parts           a kernel of long reductions as two
    names           what kernels and their buffers are called below the Region layer
    function        the frame of a GPU kernel, and copies of the region's ops in its statements
"""
