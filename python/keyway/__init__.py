"""Keyway: tensors, operators, autograd and the operator registry."""

from math import e as e, inf as inf, nan as nan, pi as pi
from typing import TYPE_CHECKING

from keyway._C import *  # noqa: F403
from keyway._C import __version__ as __version__, _assert_async as _assert_async

from keyway import _lazy
from keyway._tensor import applied as _applied, numpy as _numpy, pickling as _pickling  # noqa: F401  they attach to it
from keyway import autograd as autograd, overrides as overrides, return_types as return_types, types as types
from keyway import utils as utils
from keyway._tensor.constructors import (
    BFloat16Tensor as BFloat16Tensor, BoolTensor as BoolTensor, ByteTensor as ByteTensor, CharTensor as CharTensor,
    DoubleTensor as DoubleTensor, FloatTensor as FloatTensor, HalfTensor as HalfTensor, IntTensor as IntTensor,
    LongTensor as LongTensor, ShortTensor as ShortTensor,
)  # fmt: skip
from keyway._functions.copies import (
    alias_copy as alias_copy, as_strided_copy as as_strided_copy, detach_copy as detach_copy,
    diagonal_copy as diagonal_copy, expand_copy as expand_copy,
    narrow_copy as narrow_copy, permute_copy as permute_copy, select_copy as select_copy, slice_copy as slice_copy,
    split_copy as split_copy, split_with_sizes_copy as split_with_sizes_copy, squeeze_copy as squeeze_copy,
    t_copy as t_copy, transpose_copy as transpose_copy, unbind_copy as unbind_copy, unfold_copy as unfold_copy,
    unsqueeze_copy as unsqueeze_copy, view_as_complex_copy as view_as_complex_copy,
    view_as_real_copy as view_as_real_copy, view_copy as view_copy,
)  # fmt: skip
from keyway._functions.convolutions import (
    conv1d as conv1d, conv2d as conv2d, conv3d as conv3d, conv_tbc as conv_tbc,
)  # fmt: skip
from keyway._functions.dropouts import (
    alpha_dropout as alpha_dropout, alpha_dropout_ as alpha_dropout_, feature_alpha_dropout as feature_alpha_dropout,
    feature_alpha_dropout_ as feature_alpha_dropout_, feature_dropout as feature_dropout,
    feature_dropout_ as feature_dropout_, rrelu as rrelu, rrelu_ as rrelu_,
)  # fmt: skip
from keyway._functions.frexp import frexp as frexp
from keyway._functions.gammas import mvlgamma as mvlgamma
from keyway._functions.histograms import histogram as histogram
from keyway._functions.layer_forms import (
    ctc_loss as ctc_loss, instance_norm as instance_norm, norm_except_dim as norm_except_dim,
)  # fmt: skip
from keyway._functions.layers import (  # type: ignore[assignment]  # the operators', in more forms
    batch_norm as batch_norm, binary_cross_entropy_with_logits as binary_cross_entropy_with_logits, cosine_embedding_loss as cosine_embedding_loss,
    hinge_embedding_loss as hinge_embedding_loss, kl_div as kl_div, margin_ranking_loss as margin_ranking_loss,
    triplet_margin_loss as triplet_margin_loss,
)  # fmt: skip
from keyway._tensor.methods import (
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
from keyway._functions.grids import gradient as gradient, nonzero_static as nonzero_static, unravel_index as unravel_index
from keyway._tensor.methods import nonzero as nonzero  # type: ignore[assignment]  # the extension's, with as_tuple
from keyway._backends import get_device_module as get_device_module, is_there as _is_device_type
from keyway._library.classes import classes as classes
from keyway._library.ops import explain as explain, ops as ops, registry_snapshot as registry_snapshot, what_if as what_if
from keyway._paths import (
    cmake_prefix_path as cmake_prefix_path, compat_path as compat_path, include_path as include_path,
)  # fmt: skip
from keyway._tensor.printing import set_printoptions as set_printoptions
from keyway._functions.products import (
    chain_matmul as chain_matmul, complex as complex, frobenius_norm as frobenius_norm, matrix_power as matrix_power,
    norm as norm, nuclear_norm as nuclear_norm,
)  # fmt: skip
from keyway._functions.products import (  # type: ignore[assignment]  # the operators', in more forms
    cdist as cdist, einsum as einsum, tensordot as tensordot,
)  # fmt: skip
from keyway._tensor.serialization import load as load, load_metadata as load_metadata, save as save
from keyway._settings import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    get_default_device as get_default_device, get_float32_matmul_precision as get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    set_default_device as set_default_device, set_float32_matmul_precision as set_float32_matmul_precision,
    use_deterministic_algorithms as use_deterministic_algorithms,
)  # fmt: skip
from keyway._functions.shapes import (
    atleast_1d as atleast_1d, atleast_2d as atleast_2d, atleast_3d as atleast_3d, block_diag as block_diag,
    broadcast_shapes as broadcast_shapes, combinations as combinations, dsplit as dsplit, hsplit as hsplit,
    swapaxes as swapaxes, vsplit as vsplit,
)  # fmt: skip
from keyway._functions.shapes import (  # type: ignore[assignment, no-redef]  # the operators', in more forms
    broadcast_tensors as broadcast_tensors, cartesian_prod as cartesian_prod, meshgrid as meshgrid, split as split,
    tensor_split as tensor_split,
)  # fmt: skip
from keyway._functions.spectra import istft as istft, stft as stft
from keyway._tensor.type_info import finfo as finfo, iinfo as iinfo
from keyway._functions.unique import unique as unique
from keyway._functions.unique import unique_consecutive as unique_consecutive
from keyway._transforms.vmap import vmap as vmap
from keyway._autocast import autocast as autocast
from keyway._compile import compile as compile
from keyway._control_flow import cond as cond, while_loop as while_loop
from keyway._deferred import deferred as deferred
from keyway.autograd.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)

from keyway.random import get_rng_state as get_rng_state, seed as seed, set_rng_state as set_rng_state
from keyway.random import manual_seed as manual_seed  # the extension's, for more seeds
from keyway.utils.dlpack import to_dlpack as to_dlpack

newaxis = None

if TYPE_CHECKING:
    from keyway import accelerator as accelerator, amp as amp, array_api as array_api, cuda as cuda
    from keyway import distributions as distributions, export as export, fft as fft
    from keyway import func as func, futures as futures, graph as graph, library as library
    from keyway import linalg as linalg, nn as nn, onnx as onnx, optim as optim, profiler as profiler, signal as signal
    from keyway import special as special, testing as testing
else:  # what else is asked for is not there: that is for type checkers to say
    __getattr__ = _lazy.submodules(
        __name__, "accelerator", "amp", "array_api", "cuda", "distributions", "export", "fft", "func", "futures", "graph",
        "library", "linalg", "nn", "onnx", "optim", "profiler", "signal", "special", "testing", others=_is_device_type)
