"""Random Tiny programs, and the programs of `examples/` with sizes.

growth                              a program that grows: its values, symbols and inputs
compute, contractions, movements    the ops that are added to it
value_bounds                        what is known of a value, so that an op is applied where it makes sense
strategies                          the hypothesis strategy of all this
fusion_requests, ledgers            what is asked of fusion at random, and whether a ledger says what the regions are
one_contraction                     the strategy of programs of one contraction, for the CPU
random_plans                        random plans beside them
agreement                           whether two executors gave the same
example_bindings                    the programs of `examples/`, and odd sizes for the symbols of each
cpu_levels                          a program compiled for a level of x86-64, and whether that runs here
guard_pages, write_owners           runs that leave no buffer, and in which each byte is written by one turn
joined_calls                        runs in which kernels of a generation come together
"""
