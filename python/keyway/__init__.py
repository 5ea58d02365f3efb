"""Keyway: tensors, operators, autograd and the operator registry."""

from typing import TYPE_CHECKING

from keyway._C import *  # noqa: F403
from keyway._C import __version__ as __version__

from keyway import _lazy, _numpy, _pickling  # noqa: F401  the last two attach to Tensor
from keyway import autograd as autograd, overrides as overrides, return_types as return_types, types as types
from keyway import utils as utils
from keyway._layer_forms import (
    conv_tbc as conv_tbc, ctc_loss as ctc_loss, gru as gru, gru_cell as gru_cell, instance_norm as instance_norm,
    lstm as lstm, lstm_cell as lstm_cell, norm_except_dim as norm_except_dim, rnn_relu as rnn_relu,
    rnn_relu_cell as rnn_relu_cell, rnn_tanh as rnn_tanh, rnn_tanh_cell as rnn_tanh_cell, rrelu as rrelu,
    rrelu_ as rrelu_,
)  # fmt: skip
from keyway._layers import (  # type: ignore[assignment]  # the operators', in more forms
    batch_norm as batch_norm, binary_cross_entropy_with_logits as binary_cross_entropy_with_logits, conv1d as conv1d,
    conv2d as conv2d, conv3d as conv3d, cosine_embedding_loss as cosine_embedding_loss,
    hinge_embedding_loss as hinge_embedding_loss, kl_div as kl_div, margin_ranking_loss as margin_ranking_loss,
    triplet_margin_loss as triplet_margin_loss,
)  # fmt: skip
from keyway._methods import (
    adjoint as adjoint,
    conj as conj,
    get_device as get_device,
    is_complex as is_complex,
    is_conj as is_conj,
    is_floating_point as is_floating_point,
    is_inference as is_inference,
    is_neg as is_neg,
    is_nonzero as is_nonzero,
    is_same_size as is_same_size,
    is_signed as is_signed,
    is_tensor as is_tensor,
    numel as numel,
    resize_as_ as resize_as_,
    resolve_conj as resolve_conj,
    resolve_neg as resolve_neg,
    typename as typename,
    unsafe_chunk as unsafe_chunk,
    unsafe_split as unsafe_split,
    unsafe_split_with_sizes as unsafe_split_with_sizes,
)
from keyway._grids import gradient as gradient, unravel_index as unravel_index
from keyway._methods import nonzero as nonzero  # type: ignore[assignment]  # the extension's, with as_tuple
from keyway._ops import explain as explain, ops as ops, registry_snapshot as registry_snapshot, what_if as what_if
from keyway._paths import cmake_prefix_path as cmake_prefix_path, include_path as include_path
from keyway._printing import set_printoptions as set_printoptions
from keyway._products import chain_matmul as chain_matmul, complex as complex, norm as norm
from keyway._products import (  # type: ignore[assignment]  # the operators', in more forms
    cdist as cdist, einsum as einsum, tensordot as tensordot,
)  # fmt: skip
from keyway._serialization import load as load, load_metadata as load_metadata, save as save
from keyway._shapes import (
    atleast_1d as atleast_1d, atleast_2d as atleast_2d, atleast_3d as atleast_3d, block_diag as block_diag,
    broadcast_shapes as broadcast_shapes, combinations as combinations, dsplit as dsplit, hsplit as hsplit,
    swapaxes as swapaxes, vsplit as vsplit,
)  # fmt: skip
from keyway._shapes import (  # type: ignore[assignment, no-redef]  # the operators', in more forms
    broadcast_tensors as broadcast_tensors, cartesian_prod as cartesian_prod, meshgrid as meshgrid,
    tensor_split as tensor_split,
)  # fmt: skip
from keyway._type_info import finfo as finfo, iinfo as iinfo
from keyway._unique import unique as unique
from keyway._unique import unique_consecutive as unique_consecutive
from keyway.autograd.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)

if TYPE_CHECKING:
    from keyway import array_api as array_api, fft as fft, func as func, library as library, linalg as linalg, nn as nn
    from keyway import optim as optim, profiler as profiler, special as special, testing as testing
else:  # what else is asked for is not there: that is for type checkers to say
    __getattr__ = _lazy.submodules(
        __name__, "array_api", "fft", "func", "library", "linalg", "nn", "optim", "profiler", "special", "testing")
