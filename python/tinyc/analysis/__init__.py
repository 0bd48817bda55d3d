"""Analyses: IR in, frozen data out. They import no pass and change no IR."""
