"""`tinyc-opt`: passes on MLIR text, spelled and behaving as `mlir-opt`.

In the order in which they are read:

    main              the entry point: an input through its passes, and what comes out
    arguments         the command line: `mlir-opt`'s options, and a flag for each pass
    instruments       what listens while passes run: IR around them, timing, statistics
    expectations      `--verify-diagnostics`: what a test file expects, against what was reported
"""
