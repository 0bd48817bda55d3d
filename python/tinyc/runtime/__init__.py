"""Running programs: the frozen `Program`, its memory, and the devices. Imports no dialect: it runs without MLIR."""
