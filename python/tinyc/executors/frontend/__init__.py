"""The ops of the Frontend layer in numpy, each written by itself: what the formulas of `tinyc.formulas` are checked by.

A function takes the operands as arrays in the type in which the op computes (f32 for 16-bit floats, f64 for the
oracle), None where one is left out, and the attributes as plain data with every extent a number. It gives the result,
or a tuple of results, which are then rounded to their types.

In reading order:

    elementwise   functions of each element
    exponential   exponentials, hyperbolic functions and powers
    angles        trigonometric functions
    activations   activations without exponentials
    bits          the bits of a number as another one
    movement      what moves elements, and casts
    indexing      what reads or writes where its data says
    products      contractions of matrices
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
    evaluation    the table of all, and how an op is evaluated
"""
