"""The op types of ONNX, a handler each: what a node means in ops of the Frontend layer.

In reading order:

    elementwise   functions of each element
    movement      what moves elements, and casts
    slicing       parts of tensors, and elements around them
    indexing      what reads or writes where its data says
    products      contractions of matrices
    windows       pads of windows
    convolution   convolutions, and the fold of windows
    attention     attention, rotary embedding
    reductions    reductions, and what is made of them along an axis
    norms         layer, rms, group, instance and batch norms
    pooling       pooling
    resize        resizing
    sampling      elements at coordinates that data says
    recurrent     recurrent layers
    quantisation  quantisation, and products of quantised numbers
    random        random numbers
    signal        windows and spectra
    registry      all of them by op type
"""
