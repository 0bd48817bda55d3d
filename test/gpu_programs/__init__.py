"""What tests of GPU kernels share: whole programs run without a GPU, and the text of a kernel."""
