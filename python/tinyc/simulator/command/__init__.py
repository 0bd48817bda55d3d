"""`tinyc simulate`: a kernel of any compiler, run on the simulator from the command line.

In: a PTX file, the launch's shape, and arguments as text. Out: findings and counters on stdout or as JSON, and arrays
as `.npy` files. Built on the simulator's public interface, of which nothing here is a part.
"""
