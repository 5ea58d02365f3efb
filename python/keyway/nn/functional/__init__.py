"""What layers compute, as functions: PyTorch's names, argument order and defaults.

Operators of the namespace "nn" in ops/schemas are here under their own names, as they are; those that differ from
PyTorch's functions, and what is composed of operators, are written.
"""

from typing import TYPE_CHECKING, Any

from keyway._C import _nn
from keyway._C import (
    adaptive_avg_pool1d as adaptive_avg_pool1d, avg_pool1d as avg_pool1d, bilinear as bilinear, celu_ as celu_,
    channel_shuffle as channel_shuffle, channel_shuffle as native_channel_shuffle,
    conv_transpose1d as conv_transpose1d, conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d, cosine_similarity as cosine_similarity, hardshrink as hardshrink,
    pairwise_distance as pairwise_distance, pdist as pdist,
    pixel_shuffle as pixel_shuffle, pixel_unshuffle as pixel_unshuffle, prelu as prelu, relu_ as relu_, selu_ as selu_,
    threshold_ as threshold_,
)
from keyway._functions.convolutions import conv1d as conv1d, conv2d as conv2d, conv3d as conv3d, conv_tbc as conv_tbc
from keyway.nn.functional._activation import (
    celu as celu, elu as elu, hardsigmoid as hardsigmoid, hardswish as hardswish, hardtanh as hardtanh,
    leaky_relu as leaky_relu, log_softmax as log_softmax, logsigmoid as logsigmoid, mish as mish, relu as relu,
    relu6 as relu6, selu as selu, sigmoid as sigmoid, silu as silu, softmax as softmax, softmin as softmin,
    softsign as softsign, tanh as tanh, tanhshrink as tanhshrink, threshold as threshold,
)
from keyway.nn.functional._attention import multi_head_attention_forward as multi_head_attention_forward
from keyway.nn.functional._layers import (
    dropout as dropout, dropout1d as dropout1d, dropout2d as dropout2d, dropout3d as dropout3d, embedding as embedding,
    embedding_bag as embedding_bag, one_hot as one_hot,
)
from keyway.nn.functional._loss import (
    binary_cross_entropy as binary_cross_entropy,
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits, cross_entropy as cross_entropy,
    ctc_loss as ctc_loss,
    huber_loss as huber_loss, kl_div as kl_div, l1_loss as l1_loss, mse_loss as mse_loss, nll_loss as nll_loss,
    smooth_l1_loss as smooth_l1_loss,
)
from keyway.nn.functional._margin_loss import (
    cosine_embedding_loss as cosine_embedding_loss, gaussian_nll_loss as gaussian_nll_loss,
    hinge_embedding_loss as hinge_embedding_loss, margin_ranking_loss as margin_ranking_loss,
    multi_margin_loss as multi_margin_loss, multilabel_margin_loss as multilabel_margin_loss,
    multilabel_soft_margin_loss as multilabel_soft_margin_loss, poisson_nll_loss as poisson_nll_loss,
    soft_margin_loss as soft_margin_loss, triplet_margin_loss as triplet_margin_loss,
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from keyway.nn.functional._noise import (
    alpha_dropout as alpha_dropout, feature_alpha_dropout as feature_alpha_dropout, gumbel_softmax as gumbel_softmax,
    rrelu as rrelu, rrelu_ as rrelu_,
)
from keyway.nn.functional._normalization import (
    batch_norm as batch_norm, group_norm as group_norm, instance_norm as instance_norm, layer_norm as layer_norm,
    local_response_norm as local_response_norm, normalize as normalize, rms_norm as rms_norm,
)
from keyway.nn.functional._pooling import (
    adaptive_avg_pool2d as adaptive_avg_pool2d, adaptive_avg_pool3d as adaptive_avg_pool3d,
    adaptive_max_pool1d as adaptive_max_pool1d, adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d as adaptive_max_pool2d, adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d as adaptive_max_pool3d, adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices,
    fractional_max_pool2d as fractional_max_pool2d,
    fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices,
    fractional_max_pool3d as fractional_max_pool3d,
    fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices,
    lp_pool1d as lp_pool1d, lp_pool2d as lp_pool2d, lp_pool3d as lp_pool3d,
    max_pool1d as max_pool1d, max_pool1d_with_indices as max_pool1d_with_indices, max_pool2d as max_pool2d,
    max_pool2d_with_indices as max_pool2d_with_indices, max_pool3d as max_pool3d,
    max_pool3d_with_indices as max_pool3d_with_indices, max_unpool1d as max_unpool1d,
    max_unpool2d as max_unpool2d, max_unpool3d as max_unpool3d,
)
from keyway.nn.functional._vision import (
    affine_grid as affine_grid, fold as fold, grid_sample as grid_sample, interpolate as interpolate, unfold as unfold,
    upsample as upsample, upsample_bilinear as upsample_bilinear, upsample_nearest as upsample_nearest,
)

if TYPE_CHECKING:  # the functions above come first
    from keyway._C._nn import *  # type: ignore[assignment]  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """An operator of the namespace "nn" that is not written here."""
        operator = getattr(_nn, name, None)
        if operator is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = operator
        return operator


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for name in dir(_nn) if not name.startswith("_"))})
