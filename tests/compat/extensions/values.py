"""What the tests of extensions share: random values, and comparisons with NumPy's float64."""

import numpy as np
import torch

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES = [*FLOATS, torch.int32, torch.int64]
# How far sums of a few values of about 1 may be off.
TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 8e-2, torch.float32: 2e-5, torch.float64: 1e-11, torch.complex64: 2e-5,
              torch.complex128: 1e-11}


def normal(seed, *shape, dtype=torch.float64):
    """Normally distributed values, rounded to the dtype; for integers whole numbers from -9 to 9."""
    draw = np.random.default_rng(seed)
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.from_numpy(draw.integers(-9, 10, shape)).to(dtype)
    values = draw.standard_normal(shape)
    if dtype.is_complex:
        values = values + 1j * draw.standard_normal(shape)
    return torch.from_numpy(values).to(dtype)


def whole(seed, low, high, *shape):
    """Whole numbers from `low` to below `high`, as int64."""
    return torch.from_numpy(np.random.default_rng(seed).integers(low, high, shape))


def array(tensor):
    """The tensor's values in NumPy, as float64, complex128 or int64."""
    dtype = tensor.dtype
    kind = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
    return tensor.detach().to(kind).numpy()


def assert_close(actual, expected, tolerance=None):
    """`actual`, a tensor, has the values of `expected`; integers exactly, others as the dtype allows."""
    expected = np.asarray(expected)
    assert tuple(actual.shape) == expected.shape
    tolerance = TOLERANCES.get(actual.dtype, 0) if tolerance is None else tolerance
    np.testing.assert_allclose(array(actual), expected, rtol=tolerance, atol=tolerance)


def assert_derivative(function, *inputs):
    """The derivatives of `function` by its inputs, float64 tensors, are those of differences of its values."""
    assert torch.autograd.gradcheck(function, [tensor.clone().requires_grad_() for tensor in inputs])
