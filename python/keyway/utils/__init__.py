"""What programs need around tensors."""
