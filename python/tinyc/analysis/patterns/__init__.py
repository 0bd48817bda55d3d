"""Which pattern a `tiny.reduce` is of, and why it is of no other.

In reading order:

    rejection         why a reduce is not of a pattern
    reduce            a `tiny.reduce` as the detections see it
    contraction       matmul and convolution
    scan              cumulative reductions
    unwrapping, fold  windows that are laid over each other and summed
    online_sum        sums of exponentials below a maximum, in one pass
    softmax, seen_keys  sums weighted by a softmax, and the keys that a mask lets count
    classification    the first pattern that a reduce is of
"""
