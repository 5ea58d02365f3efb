"""What the tests of this folder share."""

import keyway

if not hasattr(keyway, "tensor"):
    def _tensor(data, dtype=None):
        """A tensor of numbers in nested lists."""
        if not isinstance(data, list):
            kinds = {bool: keyway.bool, int: keyway.int64, float: keyway.float32}
            return keyway.full((), data, dtype=dtype or kinds[type(data)])
        rows = [_tensor(row, dtype) for row in data]
        floats = next((row.dtype for row in rows if row.is_floating_point()), None)
        return keyway.stack([row.to(floats or row.dtype) for row in rows]) if rows else keyway.empty(0, dtype=dtype)

    keyway.tensor = _tensor
