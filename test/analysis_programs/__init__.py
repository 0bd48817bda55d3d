"""What the tests of the analyses analyse: programs written as one line an op, chains of movements, blocks, kernels."""
