"""What programs need around tensors."""

from typing import TYPE_CHECKING

from keyway import _lazy

if TYPE_CHECKING:
    from keyway.utils import checkpoint as checkpoint, data as data, dlpack as dlpack
else:
    __getattr__ = _lazy.submodules(__name__, "checkpoint", "data", "dlpack")
