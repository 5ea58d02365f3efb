"""What Tensor has beside operators: how it is made, converted, copied, printed and saved."""
