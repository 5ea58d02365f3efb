"""Lazy modules: layers that take the sizes of their inputs from the first one they are called with."""

from __future__ import annotations

from typing import Any

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway._functions.numbers import Sizes
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules import batchnorm, conv, linear
from keyway.nn.modules.module import Module
from keyway.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin(Module):
    """What makes a layer lazy: class LazyThing(LazyModuleMixin, Thing), with `cls_to_become = Thing`.

    __init__ makes UninitializedParameters; initialize_parameters(), which is called with the arguments of the first
    call, gives them their shapes and initial values. The module then becomes one of `cls_to_become`, if there is one.
    """

    cls_to_become: Any = None
    _infers = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._infers:
            self.initialize_parameters(*args, **kwargs)
            if self.has_uninitialized_params():
                raise keyway.Error(f"module {self._get_name()} has not been fully initialized: initialize_parameters "
                                   "leaves uninitialized parameters")
            self._infers = False
            if self.cls_to_become is not None:
                del self.__dict__["_infers"]
                self.__class__ = self.cls_to_become
                return self(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters their shapes, by the arguments of forward(); to be defined by each subclass."""
        raise keyway.NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module itself has no shape yet."""
        return any(is_lazy(tensor) for tensor in (*self._parameters.values(), *self._buffers.values()))

    def _uninitialized_parameters(self, names: list[str], device: Any, dtype: _C.dtype | None) -> None:
        for name in names:
            self._parameters[name] = UninitializedParameter(device=device, dtype=dtype)

    def _materialize(self, **shapes: list[int]) -> None:
        """Gives shapes to those members that have none, and if there are such, the parameters their initial values."""
        was_lazy = self.has_uninitialized_params()
        with no_grad():
            for name, shape in shapes.items():
                member = getattr(self, name)
                if is_lazy(member):
                    member.materialize(shape)
        if was_lazy:
            self.reset_parameters()


class LazyLinear(LazyModuleMixin, linear.Linear):
    """A Linear whose `in_features` is the last size of its first input."""

    cls_to_become = linear.Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self._uninitialized_parameters(["weight", "bias"] if bias else ["weight"], device, dtype)

    def reset_parameters(self) -> None:
        """Draws the parameters anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Makes the weight [out_features, the input's last size] and the bias [out_features]."""
        self.in_features = input.size(-1)
        self._materialize(weight=[self.out_features, self.in_features], bias=[self.out_features])


class _LazyConv(LazyModuleMixin, conv._ConvNd):
    """What lazy convolutions share."""

    def _begin(self, out_channels: int, bias: bool, device: Any, dtype: _C.dtype | None) -> None:
        self.out_channels = out_channels
        self._uninitialized_parameters(["weight", "bias"] if bias else ["weight"], device, dtype)

    def reset_parameters(self) -> None:
        """Draws the parameters anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Makes the weight and the bias for the input's channels."""
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise _C.ValueError(f"Expected {self._dims + 1}D (unbatched) or {self._dims + 2}D (batched) input to "
                                f"{type(self).__name__}, but got input of size: {list(input.shape)}")
        channels = input.size(-self._dims - 1)
        if channels % self.groups != 0 or self.out_channels % self.groups != 0:
            raise _C.ValueError(f"{self.groups} groups must divide the input's {channels} channels and "
                                f"{self.out_channels} out_channels")
        self.in_channels = channels
        outer, inner = (channels, self.out_channels) if self._transposed else (self.out_channels, channels)
        self._materialize(weight=[outer, inner // self.groups, *self.kernel_size], bias=[self.out_channels])


class _LazyForward(_LazyConv, conv._Conv):
    def __init__(self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes | str = 0,
                 dilation: Sizes = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._begin(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, conv.Conv1d):
    """A Conv1d whose `in_channels` are those of its first input."""

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyForward, conv.Conv2d):
    """A Conv2d whose `in_channels` are those of its first input."""

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyForward, conv.Conv3d):
    """A Conv3d whose `in_channels` are those of its first input."""

    cls_to_become = conv.Conv3d


class _LazyTransposed(_LazyConv, conv._ConvTranspose):
    def __init__(self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0,
                 output_padding: Sizes = 0, groups: int = 1, bias: bool = True, dilation: Sizes = 1,
                 padding_mode: str = "zeros", device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode,
                         device, dtype)
        self._begin(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyTransposed, conv.ConvTranspose1d):
    """A ConvTranspose1d whose `in_channels` are those of its first input."""

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, conv.ConvTranspose2d):
    """A ConvTranspose2d whose `in_channels` are those of its first input."""

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, conv.ConvTranspose3d):
    """A ConvTranspose3d whose `in_channels` are those of its first input."""

    cls_to_become = conv.ConvTranspose3d


class _LazyNorm(LazyModuleMixin, batchnorm._BatchNorm):
    """What lazy normalisations share."""

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: _C.dtype | None = None, *,
                 bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self._uninitialized_parameters(["weight", "bias"] if bias else ["weight"], device, dtype)
        if track_running_stats:
            for name in ("running_mean", "running_var"):
                self._buffers[name] = UninitializedBuffer(device=device, dtype=dtype)
            self._buffers["num_batches_tracked"] = _C.zeros([], dtype=_C.int64, device=device)

    def reset_parameters(self) -> None:
        """Makes weight and bias ones and zeros and forgets the batches, if there are shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Makes parameters and buffers for the input's channels."""
        self._check_input_dim(input)
        self.num_features = input.size(self._channel_dim(input))
        shape = [self.num_features]
        self._materialize(weight=shape, bias=shape, running_mean=shape, running_var=shape)

    def _channel_dim(self, input: Tensor) -> int:
        is_single = isinstance(self, batchnorm._InstanceNorm) and input.dim() == self._dims[0]
        return 0 if is_single else 1


class LazyBatchNorm1d(_LazyNorm, batchnorm.BatchNorm1d):
    """A BatchNorm1d whose `num_features` are the channels of its first input."""

    cls_to_become = batchnorm.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, batchnorm.BatchNorm2d):
    """A BatchNorm2d whose `num_features` are the channels of its first input."""

    cls_to_become = batchnorm.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, batchnorm.BatchNorm3d):
    """A BatchNorm3d whose `num_features` are the channels of its first input."""

    cls_to_become = batchnorm.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, batchnorm.InstanceNorm1d):
    """An InstanceNorm1d whose `num_features` are the channels of its first input."""

    cls_to_become = batchnorm.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, batchnorm.InstanceNorm2d):
    """An InstanceNorm2d whose `num_features` are the channels of its first input."""

    cls_to_become = batchnorm.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, batchnorm.InstanceNorm3d):
    """An InstanceNorm3d whose `num_features` are the channels of its first input."""

    cls_to_become = batchnorm.InstanceNorm3d
