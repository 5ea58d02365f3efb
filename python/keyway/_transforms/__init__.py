"""Transforms of functions: vmap, forward mode, and the trees of tensors that they work on."""
