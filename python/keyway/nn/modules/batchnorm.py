"""Batch normalisation, and that of each sample by itself."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.normalization import _Affine


class _BatchNorm(_Affine):
    """(x - mean) / sqrt(variance + eps) of each channel, [N, C, ...], times a weight [C], if `affine`, plus, if `bias`
    is true too, a bias [C].

    While training, mean and variance are those of the batch, and go into the buffers `running_mean` and `running_var`:
    a part `momentum` of them, or if that is None, such that they are the mean of all batches so far. When not training
    they are these; without `track_running_stats`, those of the batch as well.
    """

    _version = 2
    _dims: ClassVar[tuple[int, ...]]

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: _C.dtype | None = None, *,
                 bias: bool = True) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._make_parameters(num_features, affine, affine and bias, device, dtype)
        for name in ("running_mean", "running_var"):
            values = _C.empty(num_features, device=device, dtype=dtype) if track_running_stats else None
            self.register_buffer(name, values)
        count = _C.zeros([], dtype=_C.int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets the batches so far."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Makes the weight ones and the bias zeros, and forgets the batches so far."""
        self.reset_running_stats()
        super().reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        uses_batch = self.training or self.running_mean is None
        mean, variance = self.running_mean, self.running_var
        if self.training and not self.track_running_stats:
            mean = variance = None
        return F.batch_norm(input, mean, variance, self.weight, self.bias, uses_batch, self._count(), self.eps)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._dims:
            raise ValueError(f"{type(self).__name__}: expected an input of {' or '.join(map(str, self._dims))} "
                             f"dimensions, got {input.dim()}")

    def _count(self) -> float:
        """Counts the batch, if one is being tracked, and says what part of it is taken."""
        if self.training and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        """A state before version 2, or of no version, may lack the number of batches: it stays as it is then."""
        key = prefix + "num_batches_tracked"
        if local_metadata.get("version") in (None, 1) and self.num_batches_tracked is not None:
            state_dict.setdefault(key, self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of [N, C] or [N, C, L]."""

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of [N, C, H, W]."""

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of [N, C, D, H, W]."""

    _dims = (5,)


class _InstanceNorm(_BatchNorm):
    """(x - mean) / sqrt(variance + eps) of each channel of each sample, [N, C, ...] or [C, ...], times a weight [C]
    plus a bias [C], if `affine` (and `bias`).

    Mean and variance are those of the sample, or when not training with `track_running_stats`, what was tracked.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
                 track_running_stats: bool = False, device: Any = None, dtype: _C.dtype | None = None, *,
                 bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        one = input.dim() == self._dims[0]
        if not self.affine and input.shape[0 if one else 1] != self.num_features:
            warnings.warn(f"{type(self).__name__}: the input has {input.shape[0 if one else 1]} channels, num_features "
                          f"is {self.num_features}; without affine=True it is not used", stacklevel=3)
        uses_sample = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        result = F.instance_norm(input.unsqueeze(0) if one else input, self.running_mean, self.running_var, self.weight,
                                 self.bias, uses_sample, momentum, self.eps)
        return result.squeeze(0) if one else result


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of [N, C, L] or [C, L]."""

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of [N, C, H, W] or [C, H, W]."""

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of [N, C, D, H, W] or [C, D, H, W]."""

    _dims = (4, 5)
