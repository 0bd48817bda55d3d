"""Code for one element of a tensor in upstream arith, math, scf and memref: what loops and GPU kernels are made of."""
