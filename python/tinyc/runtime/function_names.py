"""The names of the functions in the machine code of a program: --exec-to-llvm gives them, and runs ask for them."""

#: What --exec-to-llvm puts in front of a kernel's name.
KERNEL_PREFIX = "kernel."
#: And in front of the name of its loops, which that function calls.
LOOPS_PREFIX = "loops."
#: What each thread of a team runs: it takes turns of one kernel's loop after the other, until there are none left.
TEAM_FUNCTION = "generation_team"
#: A function of this prefix may be called before it is known to be needed.
SPECULATABLE_PREFIX = "index."
