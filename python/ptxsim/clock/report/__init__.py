"""What people and tools read of an estimate.

In: an `Estimate`, the PTX that it is of, a `Timeline`. Out: text, JSON, SVG. In reading order:

    quantities       times, rates and shares as text
    estimate_text    an estimate as tables; the numbers of a device; what the model is not good for
    estimate_object  the same for JSON
    pair             a kernel beside another: where they differ, and whether the model can tell
    trace            a timeline as Chrome's trace events, which Perfetto shows
    canvas           lines, boxes and words as SVG
    roofline         FLOPs of a byte against FLOP/s, under what the device gives
    stalls           what warps wait for, as bars
"""
