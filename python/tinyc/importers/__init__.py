"""What becomes a module: Tiny JSON a Tiny one (`tiny_json`), an ONNX model a Frontend one (`onnx`).

In reading order:

    files, json_text           the text: a file of the user's, and lenient JSON with the place of each value
    how_to_say                 the uops that there are not, and what to write for them
    spellings, graph           the nodes: three spellings brought to one list, in an order in which sources come first
    weights_file, constants    tensors of the program: in files, mapped, and as values
    arguments                  the `arg` of each node as plain data
    written_shapes, symbols    the sizes: shapes as they are written, and what their symbols stand for
    repairs, composites, uops  one node as steps: operands made alike, uops that the vocabulary lacks, the Tiny op
    typed                      all nodes as steps
    emit                       steps as IR
    tiny_json_dump             the way back: a Tiny module as text
    tiny_json                  all of it: `import_program`, and `dump`
    onnx                       ONNX models
"""
