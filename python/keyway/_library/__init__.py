"""Operators in Python: how they are found, defined, given kernels and gradients, and checked."""
