"""Helpers for gradients and parameters."""

from keyway.nn.utils import rnn as rnn
from keyway.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from keyway.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from keyway.nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from keyway.nn.utils.clip_grad import get_total_norm as get_total_norm
from keyway.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from keyway.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from keyway.nn.utils.init import skip_init as skip_init
