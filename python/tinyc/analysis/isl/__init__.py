"""Statements in isl's notation and as isl's objects.

In reading order:

    statement   iteration domains and accesses, written
    relation    dependences, written
    notation    sets and maps, read back
    polyhedra   sets and maps as isl's objects; this one loads islpy
"""
