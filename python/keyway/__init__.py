"""Keyway: tensors, operators, autograd and the operator registry."""

from typing import TYPE_CHECKING

from keyway._C import *  # noqa: F403
from keyway._C import __version__ as __version__

from keyway._methods import (
    flatten as flatten,
    is_complex as is_complex,
    is_floating_point as is_floating_point,
    is_nonzero as is_nonzero,
    is_tensor as is_tensor,
    numel as numel,
    ravel as ravel,
    unflatten as unflatten,
)
from keyway._printing import set_printoptions
from keyway._type_info import finfo, iinfo
from keyway import _numpy, _pickling  # noqa: F401  they attach to Tensor
from keyway._serialization import load, load_metadata, save
from keyway import autograd, utils
from keyway.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401
from keyway import library, overrides, profiler
from keyway._ops import explain, ops, registry_snapshot, what_if
from keyway import _lazy

if TYPE_CHECKING:
    from keyway import nn, optim
__getattr__ = _lazy.submodules(__name__, "nn", "optim")
from keyway._printing import set_printoptions as set_printoptions
from keyway._type_info import finfo as finfo, iinfo as iinfo
from keyway._serialization import load as load, load_metadata as load_metadata, save as save
from keyway import return_types as return_types, testing as testing, types as types
from keyway._paths import cmake_prefix_path as cmake_prefix_path, include_path as include_path
