"""The replay: recorded warps issue their SASS on a model of an SM, and wait for what is busy or has not come.

In: a `Recording`, the SASS of its kernel, a device. Out: cycles, and what was waited for. Reading order:

    path         a warp's way through the SASS, from its way through the PTX
    stream       the instructions of that way, with what happened at each
    operations   what each kind of instruction takes of a device
    residency    clusters, CTAs and warps that are resident, and what is kept of each
    phases       barriers and mbarriers: what each waits for, and who for it
    load_store   queues of memory instructions, their addresses, the banks
    memory_path  the way of requests and copies: the port to L2, shares of L2 and HBM
    timeline     what happened when
    sm           the SMs of one cluster: ports and pipes; the loop over events
"""
