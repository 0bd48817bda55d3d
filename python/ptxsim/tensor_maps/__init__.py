"""Tensor maps: where a tensor lies in global memory, which box of it a copy moves, how that lies in shared memory.

`tensor_map` is part of the public interface, `tensor_map_rules` what the driver refuses, `tensor_layout` the geometry,
`encoding` the 128 bytes of a map on the device, `swizzle` the permutation of banks. Pure: what copies make of a map is
in `copies/`.
"""
