"""What this implementation of the array API has."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway.array_api._data_types import KINDS, isdtype


class _Info:
    """The inspection functions of the array API."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on the implementation: shapes may depend on data, up to 64 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> _C.device:
        """The device that new arrays are on."""
        return _C.device("cpu")

    def default_dtypes(self, *, device: object = None) -> dict[str, _C.dtype]:
        """The dtypes that new arrays have."""
        return {
            "real floating": _C.tensor(0.0).dtype,
            "complex floating": _C.tensor(0j).dtype,
            "integral": _C.int64,
            "indexing": _C.int64,
        }

    def dtypes(self, *, device: object = None, kind: Any = None) -> dict[str, _C.dtype]:
        """The dtypes of a kind, or all, by name."""
        every = KINDS["bool"] + KINDS["numeric"]
        return {str(d).removeprefix("keyway."): d for d in every if kind is None or isdtype(d, kind)}

    def devices(self) -> list[_C.device]:
        """The devices that arrays with elements can be on without asking a driver: the CPU."""
        return [_C.device("cpu")]


def __array_namespace_info__() -> _Info:
    """The inspection functions of this namespace."""
    return _Info()
