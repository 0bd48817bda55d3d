"""`tgpu.transpose`, element by element."""

from tinyc.dialects.cuda.main.reference.map import compute as compute
