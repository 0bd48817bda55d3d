"""PTX text → `syntax.ModuleTree`, the module as it is written; malformed text is a PtxError with line and column.

lexer            words, numbers, directives, strings and marks
types, syntax    PTX's types and state spaces; the tree
constants, initializers, declarations   expressions, initial values, registers and variables
scope, operands, statements             names of registers by scope, operands, bodies of functions
debug            what compilers say about sources
parser           the whole module
target           what a module is compiled for
targets          which target an instruction needs, and the check of a module
"""
