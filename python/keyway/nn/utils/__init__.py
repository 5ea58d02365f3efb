"""Helpers for gradients, parameters and layers."""

from keyway.nn.utils import parametrizations as parametrizations
from keyway.nn.utils import parametrize as parametrize
from keyway.nn.utils import rnn as rnn
from keyway.nn.utils import stateless as stateless
from keyway.nn.utils._weight_hooks import (
    remove_spectral_norm as remove_spectral_norm, remove_weight_norm as remove_weight_norm,
    spectral_norm as spectral_norm, weight_norm as weight_norm,
)
from keyway.nn.utils.clip_grad import (
    clip_grad_norm_ as clip_grad_norm_, clip_grad_value_ as clip_grad_value_,
    clip_grads_with_norm_ as clip_grads_with_norm_, get_total_norm as get_total_norm,
)
from keyway.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from keyway.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from keyway.nn.utils.fusion import (
    fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_conv_bn_weights as fuse_conv_bn_weights,
    fuse_linear_bn_eval as fuse_linear_bn_eval, fuse_linear_bn_weights as fuse_linear_bn_weights,
)
from keyway.nn.utils.init import skip_init as skip_init
