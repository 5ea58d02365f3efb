"""What programs need around tensors."""

from keyway.utils import data as data
