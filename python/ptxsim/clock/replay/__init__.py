"""The replay: recorded warps issue their SASS on a model of an SM, and wait for what is busy or has not come.

In: a `Recording`, the SASS of its kernel, a device. Out: cycles, and what was waited for. Reading order:

    path         a warp's way through the SASS, from its way through the PTX
    stream       the instructions of that way, with what happened at each
    operations   what each kind of instruction takes of a device
    load_store   the queues, addresses and banks that memory instructions of an SM pass
    sm           the SMs of one cluster: ports, pipes, memory, phases; the loop over events
"""
