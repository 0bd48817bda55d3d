"""What ops of the Frontend layer are made of: a formula each, which adds Tiny ops to a program in the making.

Plain data, without IR. The verifier of the Frontend layer, its lowering to Tiny and the importers all ask here.

    def silu(x: Value) -> Value:
        return x * sigmoid(x)

In reading order:

    steps         a Tiny program in the making
    value         values of it, with arithmetic and movements
    schema        what an op takes, read off the signature of its formula
    elementwise   functions of each element
    padding       more elements around a value
    exponential   exponentials, hyperbolic functions and powers
    angles        trigonometric functions
    activations   activations without exponentials
    bits          the bits of a number as another one
    movement      what moves elements, and casts
    scattering    scatter, and the places that gather and scatter share
    indexing      what reads or writes where its data says
    products      contractions of matrices
    convolution   convolutions, and the fold of windows
    winograd      convolutions of 3 × 3 by fewer products
    attention     attention, rotary embedding
    reductions    reductions, and what is made of them along an axis
    norms         layer, rms, group, instance and batch norms
    pooling       pooling
    resize        resizing
    sampling      elements at coordinates that data says
    recurrent_activations  activations of recurrent layers
    recurrent     recurrent layers
    quantisation  quantisation, and products of quantised numbers
    random        random numbers
    signal        windows and spectra
    registry      all of them by name
"""
