"""`tinyc-opt`: passes on MLIR text, spelled and behaving as `mlir-opt`.

In reading order:

    main              the entry point: an input through its passes, and what comes out
    arguments         the command line: `mlir-opt`'s options, and a flag for each pass
    help              what passes there are, and a page on each
    instruments       what listens while passes run: IR around them, timing, statistics
    expectations      `--verify-diagnostics`: what a test file expects, against what was reported
"""
