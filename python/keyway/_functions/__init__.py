"""Functions in the forms that PyTorch has them in, where an operator alone is not enough."""
