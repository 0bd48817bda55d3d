"""Numpy evaluation of the layers above the machine: the truth that every other executor is compared with.

`reference.evaluate_module` runs a Frontend, Tiny or Region module; `compare` says whether two sets of outputs agree,
with a tolerance that is derived from the program. In reading order:

    memory                            the refusal of what this machine has no memory for
    elements                          element types in numpy
    movement, elementwise, reduction  the ops of Tiny, by groups
    philox, leaves                    random numbers; `const`, `iota` and `rand`
    data_dependent                    `gather`, `scatter` and `topk`
    frontend                          the ops of the Frontend layer
    signature, values                 inputs and outputs by name and type; values by name
    reference                         a module, op by op
    random_arrays, random_inputs      inputs for a program, by a seed: from its boundary, from a module
    tolerance, compare                how far two values may be apart, and whether they are
    rounding                          how far those of two executors may be, derived from the program
    gpu                               GPU kernels, tile by tile or the threads of a CTA in step
"""
