"""What is run in both languages: modules, optimizers and schedules with their options and inputs; and what only one
language has, with the reason."""

from __future__ import annotations

from typing import Any, Callable

import keyway
from keyway import Tensor

Input = Callable[[], Tensor]  # drawn from the seed of the case


def floats(*shape: int) -> Input:
    return lambda: keyway.randn(*shape)


def within(low: float, high: float, *shape: int) -> Input:
    return lambda: keyway.rand(*shape).mul(high - low).add(low)


def classes(count: int, *shape: int) -> Input:
    return lambda: keyway.randint(0, count, shape)


def signs(*shape: int) -> Input:
    return lambda: keyway.randint(0, 2, shape).mul(2).sub(1).to(keyway.float32)


def log_softmax(*shape: int) -> Input:
    return lambda: keyway.randn(*shape).log_softmax(1)


def values(numbers: Any, dtype: Any = None) -> Input:
    return lambda: keyway.tensor(numbers, dtype=dtype)


class Case:
    """One module, called once. `inputs` are those of forward(); `call` has its keyword arguments, and `tensors` options
    that are tensors."""

    def __init__(self, cls: str, options: dict[str, Any], *inputs: Input, label: str = "", training: bool = True,
                 call: dict[str, Any] | None = None, tensors: dict[str, Input] | None = None,
                 call_tensors: dict[str, Input] | None = None) -> None:
        self.name = f"{cls}{'-' if label else ''}{label}"
        self.cls = cls
        self.options = options
        self.inputs = inputs
        self.training = training
        self.call = call or {}
        self.tensors = tensors or {}
        self.call_tensors = call_tensors or {}


def _activations() -> list[Case]:
    x = floats(3, 4, 5)
    plain = ["Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink"]
    in_place = ["ReLU", "SiLU", "SELU", "Mish", "Hardswish", "Hardsigmoid", "ReLU6"]
    cases = [Case(name, {}, x) for name in plain + in_place]
    cases += [Case(name, {"inplace": True}, x, label="in-place") for name in in_place]
    cases += [Case(name, options, x) for name, options in (
        ("CELU", {"alpha": 0.7}), ("ELU", {"alpha": 1.3, "inplace": True}), ("GELU", {}), ("GLU", {"dim": 1}),
        ("Hardshrink", {"lambd": 0.3}), ("Softshrink", {"lambd": 0.3}), ("Hardtanh", {"min_val": -0.5, "max_val": 0.7}),
        ("LeakyReLU", {"negative_slope": 0.2}), ("LogSoftmax", {"dim": 1}), ("Softmax", {"dim": 2}),
        ("Softmin", {"dim": 0}), ("Softmax2d", {}), ("Softplus", {"beta": 1.5, "threshold": 2.0}),
        ("Threshold", {"threshold": 0.1, "value": 2.0}), ("PReLU", {"num_parameters": 4, "init": 0.3}),
        ("RReLU", {"lower": 0.1, "upper": 0.4}))]
    return cases + [
        Case("GELU", {"approximate": "tanh"}, x, label="tanh"),
        Case("RReLU", {"inplace": True}, x, label="evaluated", training=False),
        Case("LeakyReLU", {"inplace": True}, x, label="in-place"), Case("CELU", {"inplace": True}, x, label="in-place"),
        Case("Hardtanh", {"inplace": True}, x, label="in-place"),
        Case("Threshold", {"threshold": 0.1, "value": 2.0, "inplace": True}, x, label="in-place"),
    ]


def _layers() -> list[Case]:
    pair = (floats(5, 4), floats(5, 4))
    return [
        Case("Identity", {}, floats(3, 4)),
        Case("Linear", {"in_features": 4, "out_features": 3}, floats(5, 4)),
        Case("Linear", {"in_features": 4, "out_features": 3, "bias": False}, floats(2, 5, 4), label="no-bias"),
        Case("Bilinear", {"in1_features": 4, "in2_features": 3, "out_features": 2}, floats(5, 4), floats(5, 3)),
        Case("Bilinear", {"in1_features": 4, "in2_features": 3, "out_features": 2, "bias": False}, floats(5, 4),
             floats(5, 3), label="no-bias"),
        Case("Flatten", {"start_dim": 1, "end_dim": 2}, floats(2, 3, 4, 5)),
        Case("Unflatten", {"dim": 1, "unflattened_size": [3, -1]}, floats(2, 12)),
        Case("CosineSimilarity", {"dim": 1, "eps": 1e-6}, *pair),
        Case("PairwiseDistance", {"p": 3.0, "eps": 1e-5, "keepdim": True}, *pair),
        Case("Embedding", {"num_embeddings": 7, "embedding_dim": 3}, classes(7, 4, 2)),
        Case("Embedding", {"num_embeddings": 7, "embedding_dim": 3, "padding_idx": -2, "max_norm": 1.0, "norm_type": 3.0,
                           "scale_grad_by_freq": True}, classes(7, 4, 2), label="shortened"),
        *[Case("EmbeddingBag", {"num_embeddings": 7, "embedding_dim": 3, "mode": mode}, classes(7, 4, 3), label=mode)
          for mode in ("sum", "mean", "max")],
        Case("EmbeddingBag", {"num_embeddings": 7, "embedding_dim": 3, "mode": "sum", "include_last_offset": True,
                              "padding_idx": 2, "max_norm": 1.0, "norm_type": 1.0, "scale_grad_by_freq": True},
             classes(7, 6), values([0, 2, 3, 6]), floats(6), label="offsets"),
        Case("PixelShuffle", {"upscale_factor": 2}, floats(2, 8, 3, 3)),
        Case("PixelUnshuffle", {"downscale_factor": 2}, floats(2, 2, 6, 4)),
        Case("ChannelShuffle", {"groups": 2}, floats(2, 6, 3, 3)),
        Case("Unfold", {"kernel_size": [2, 3], "dilation": 2, "padding": 1, "stride": [1, 2]}, floats(2, 3, 6, 7)),
        Case("Fold", {"output_size": [4, 5], "kernel_size": 2, "dilation": 1, "padding": 1, "stride": 2},
             floats(2, 12, 9)),
        Case("Upsample", {"size": [5, 7]}, floats(2, 3, 4, 4)),
        Case("Upsample", {"scale_factor": [1.5, 2.0], "mode": "bilinear", "align_corners": True}, floats(2, 3, 4, 4),
             label="bilinear"),
        Case("Upsample", {"scale_factor": 1.3, "mode": "linear", "recompute_scale_factor": True}, floats(2, 3, 8),
             label="linear"),
        *[Case("Upsample", {"scale_factor": 1.5, "mode": mode}, floats(2, 3, 4, 4), label=mode)
          for mode in ("nearest-exact", "bicubic", "area")],
        Case("Upsample", {"size": [3, 5, 6], "mode": "trilinear"}, floats(1, 2, 3, 4, 4), label="trilinear"),
        *[Case(f"Dropout{d}", {"p": 0.4}, floats(3, 4, *[5] * dims)) for d, dims in
          (("", 1), ("1d", 1), ("2d", 2), ("3d", 3))],
        *[Case(f"Dropout{d}", {"p": 0.4, "inplace": True}, floats(3, 4, *[5] * dims), label="in-place") for d, dims in
          (("", 1), ("1d", 1), ("2d", 2), ("3d", 3))],
        Case("Dropout", {}, floats(3, 4), label="evaluated", training=False),
        Case("AlphaDropout", {"p": 0.4}, floats(3, 4, 5)), Case("FeatureAlphaDropout", {"p": 0.4}, floats(3, 4, 5)),
        Case("AlphaDropout", {"inplace": True}, floats(3, 4, 5), label="in-place"),
        Case("FeatureAlphaDropout", {"inplace": True}, floats(3, 4, 5), label="in-place"),
    ]


def _norms() -> list[Case]:
    cases = []
    for dims in (1, 2, 3):
        x = floats(3, 4, *[5, 2, 3][:dims])
        options = {"num_features": 4, "eps": 1e-4, "momentum": 0.3}
        cases += [
            Case(f"BatchNorm{dims}d", options, x),
            Case(f"BatchNorm{dims}d", options, x, label="evaluated", training=False),
            Case(f"BatchNorm{dims}d", {"num_features": 4, "momentum": None, "affine": False}, x, label="averaged"),
            Case(f"BatchNorm{dims}d", {"num_features": 4, "track_running_stats": False, "bias": False}, x,
                 label="untracked"),
            Case(f"InstanceNorm{dims}d", {"num_features": 4}, x),
            Case(f"InstanceNorm{dims}d", {**options, "affine": True, "track_running_stats": True}, x, label="tracked"),
            Case(f"InstanceNorm{dims}d", {"num_features": 4, "affine": True, "track_running_stats": True,
                                          "bias": False}, floats(4, *[5, 2, 3][:dims]), label="evaluated",
                 training=False),
        ]
    return cases + [
        Case("GroupNorm", {"num_groups": 2, "num_channels": 4, "eps": 1e-3}, floats(3, 4, 5)),
        Case("GroupNorm", {"num_groups": 2, "num_channels": 4, "bias": False}, floats(3, 4, 5), label="no-bias"),
        Case("GroupNorm", {"num_groups": 2, "num_channels": 4, "affine": False}, floats(3, 4, 5), label="plain"),
        Case("LayerNorm", {"normalized_shape": [4, 5], "eps": 1e-3}, floats(3, 4, 5)),
        Case("LayerNorm", {"normalized_shape": [5], "bias": False}, floats(3, 4, 5), label="no-bias"),
        Case("LayerNorm", {"normalized_shape": [5], "elementwise_affine": False}, floats(3, 4, 5), label="plain"),
        Case("RMSNorm", {"normalized_shape": [5]}, floats(3, 4, 5)),
        Case("RMSNorm", {"normalized_shape": [5], "eps": 1e-3, "elementwise_affine": False}, floats(3, 4, 5),
             label="plain"),
        Case("LocalResponseNorm", {"size": 3, "alpha": 0.1, "beta": 0.6, "k": 1.2}, floats(2, 5, 3, 2)),
        Case("CrossMapLRN2d", {"size": 3, "alpha": 0.1, "beta": 0.6, "k": 1.2}, floats(2, 5, 3, 2)),
    ]


def _convolutions() -> list[Case]:
    cases = []
    for dims in (1, 2, 3):
        name, x = f"Conv{dims}d", floats(2, 4, *[7, 6, 5][:dims])
        channels = {"in_channels": 4, "out_channels": 6, "kernel_size": [3, 2, 2][:dims]}
        cases += [
            Case(name, channels, x),
            Case(name, {**channels, "stride": 2, "padding": [1, 0, 1][:dims], "groups": 2, "bias": False}, x,
                 label="strided"),
            Case(name, {**channels, "padding": "same", "dilation": 2}, x, label="same"),
            Case(name, {**channels, "padding": "valid"}, x, label="valid"),
            Case(name, {**channels, "padding": "same", "padding_mode": "circular"}, x, label="same-circular"),
            *[Case(name, {**channels, "padding": 1, "padding_mode": mode}, x, label=mode)
              for mode in ("reflect", "replicate", "circular")],
            Case(f"ConvTranspose{dims}d", channels, x),
            Case(f"ConvTranspose{dims}d", {**channels, "stride": 2, "padding": 1, "output_padding": 1, "groups": 2,
                                           "bias": False, "dilation": 2}, x, label="strided"),
        ]
    return cases


def _pools_and_pads() -> list[Case]:
    cases = []
    for dims in (1, 2, 3):
        x = floats(2, 3, *[7, 6, 5][:dims])
        windows = {"kernel_size": [3, 2, 2][:dims], "stride": 2, "padding": 1, "ceil_mode": True}
        pooled = {"kernel_size": 2, "return_indices": True}
        override = {} if dims == 1 else {"divisor_override": 3}
        cases += [
            Case(f"MaxPool{dims}d", {"kernel_size": 2}, x),
            Case(f"MaxPool{dims}d", {**windows, "dilation": 1}, x, label="windows"),
            Case(f"MaxPool{dims}d", pooled, x, label="indices"),
            Case(f"AvgPool{dims}d", {"kernel_size": 2}, x),
            Case(f"AvgPool{dims}d", {**windows, "count_include_pad": False, **override}, x, label="windows"),
            Case(f"AdaptiveAvgPool{dims}d", {"output_size": 3}, x),
            Case(f"AdaptiveMaxPool{dims}d", {"output_size": 3}, x),
            Case(f"AdaptiveMaxPool{dims}d", {"output_size": [4, 3, 2][:dims], "return_indices": True}, x,
                 label="indices"),
            Case(f"LPPool{dims}d", {"norm_type": 2.0, "kernel_size": 2, "stride": 1, "ceil_mode": True}, x),
            Case(f"LPPool{dims}d", {"norm_type": 3.0, "kernel_size": [3, 2, 2][:dims]},
                 within(0.5, 2.0, 2, 3, *[7, 6, 5][:dims]), label="windows"),
            Case(f"MaxUnpool{dims}d", {"kernel_size": 2, "stride": 2, "padding": 0}, floats(1, 1, *[2] * dims),
                 _unpool_indices(dims)),
            *[Case(f"{kind}Pad{dims}d", {"padding": padding, **({"value": 1.5} if kind == "Constant" else {})}, x,
                   label=label)
              for kind in ("Constant", "Zero", "Circular", "Reflection", "Replication")
              for label, padding in (("all", 2), ("each", [1, 2, 0, 1, 2, 1][:2 * dims]))],
        ]
        if dims > 1:
            cases += [
                Case(f"AdaptiveAvgPool{dims}d", {"output_size": [None, 2, 3][:dims]}, x, label="kept"),
                Case(f"AdaptiveMaxPool{dims}d", {"output_size": [None, 2, 3][:dims]}, x, label="kept"),
                Case(f"FractionalMaxPool{dims}d", {"kernel_size": 2, "output_size": 3}, x),
                Case(f"FractionalMaxPool{dims}d", {"kernel_size": 2, "output_ratio": 0.5, "return_indices": True}, x,
                     label="ratio"),
            ]
    return cases


def _unpool_indices(dims: int) -> Input:
    """Indices of 2^dims maxima in windows of 2: the first of each."""
    size = 4
    indices = [0]
    for _ in range(dims):
        indices = [index * size + i for index in indices for i in (0, 2)]
    return lambda: keyway.tensor(indices).reshape(1, 1, *[2] * dims)


def _losses() -> list[Case]:
    x, y = floats(5, 4), floats(5, 4)
    two: list[tuple[str, dict[str, Any], list[Input]]] = [
        ("L1Loss", {}, [x, y]), ("MSELoss", {}, [x, y]), ("SmoothL1Loss", {"beta": 0.5}, [x, y]),
        ("HuberLoss", {"delta": 0.7}, [x, y]), ("SoftMarginLoss", {}, [x, signs(5, 4)]),
        ("HingeEmbeddingLoss", {"margin": 0.8}, [x, signs(5, 4)]),
        ("CosineEmbeddingLoss", {"margin": 0.2}, [x, y, signs(5)]),
        ("MarginRankingLoss", {"margin": 0.3}, [floats(6), floats(6), signs(6)]),
        ("MultiMarginLoss", {"p": 2, "margin": 0.9}, [x, classes(4, 5)]),
        ("MultiLabelMarginLoss", {}, [x, values([[0, 2, -1, 1], [3, -1, 0, 1], [1, 2, 3, -1], [0, 1, 2, 3],
                                                 [-1, 0, 1, 2]])]),
        ("MultiLabelSoftMarginLoss", {}, [x, within(0.0, 1.0, 5, 4)]),
        ("TripletMarginLoss", {"margin": 0.7, "p": 3.0, "eps": 1e-5, "swap": True}, [x, y, floats(5, 4)]),
        ("TripletMarginWithDistanceLoss", {"margin": 0.7, "swap": True}, [x, y, floats(5, 4)]),
        ("PoissonNLLLoss", {"log_input": False, "full": True, "eps": 1e-6},
         [within(0.5, 2.0, 5, 4), within(0.5, 4.0, 5, 4)]),
        ("GaussianNLLLoss", {"full": True, "eps": 1e-4}, [x, y, within(0.1, 2.0, 5, 4)]),
        ("KLDivLoss", {"log_target": True}, [log_softmax(5, 4), log_softmax(5, 4)]),
        ("NLLLoss", {"ignore_index": 1}, [log_softmax(5, 4), classes(4, 5)]),
        ("CrossEntropyLoss", {"ignore_index": 1, "label_smoothing": 0.2}, [x, classes(4, 5)]),
        ("BCELoss", {}, [within(0.1, 0.9, 5, 4), within(0.0, 1.0, 5, 4)]),
        ("BCEWithLogitsLoss", {}, [x, within(0.0, 1.0, 5, 4)]),
        ("CTCLoss", {"blank": 1, "zero_infinity": True},
         [log_softmax_of_time(7, 3, 5), values([[2, 3, 2], [4, 4, 0], [0, 2, 3]]), values([7, 6, 3]),
          values([3, 2, 3])]),
    ]
    cases = [Case(name, {**options, "reduction": reduction}, *inputs, label=reduction)
             for name, options, inputs in two for reduction in ("none", "mean", "sum")]
    weight = {"weight": within(0.5, 2.0, 4)}
    return cases + [
        Case("KLDivLoss", {"reduction": "batchmean"}, log_softmax(5, 4), within(0.1, 1.0, 5, 4), label="batchmean"),
        Case("NLLLoss", {}, log_softmax(5, 4), classes(4, 5), tensors=weight, label="weighted"),
        Case("CrossEntropyLoss", {}, x, classes(4, 5), tensors=weight, label="weighted"),
        Case("BCELoss", {}, within(0.1, 0.9, 5, 4), within(0.0, 1.0, 5, 4), tensors=weight, label="weighted"),
        Case("BCEWithLogitsLoss", {}, x, within(0.0, 1.0, 5, 4), tensors={**weight, "pos_weight": within(0.5, 2.0, 4)},
             label="weighted"),
        Case("MultiMarginLoss", {}, x, classes(4, 5), tensors=weight, label="weighted"),
        Case("MultiLabelSoftMarginLoss", {}, x, within(0.0, 1.0, 5, 4), tensors=weight, label="weighted"),
        Case("PoissonNLLLoss", {}, x, within(0.5, 4.0, 5, 4), label="of-logarithms"),
        Case("AdaptiveLogSoftmaxWithLoss", {"in_features": 8, "n_classes": 12, "cutoffs": [3, 7], "div_value": 2.0,
                                            "head_bias": True}, floats(6, 8), classes(12, 6)),
    ]


def log_softmax_of_time(*shape: int) -> Input:
    return lambda: keyway.randn(*shape).log_softmax(2)


def _sequences() -> list[Case]:
    sizes = {"input_size": 4, "hidden_size": 3}
    cases = []
    for name, states in (("RNN", 1), ("GRU", 1), ("LSTM", 2)):
        more = {**sizes, "num_layers": 2, "bidirectional": True}
        cases += [
            Case(name, sizes, floats(5, 2, 4)),
            Case(name, {**more, "dropout": 0.3, "batch_first": True}, floats(2, 5, 4), *[floats(4, 2, 3)] * states,
                 label="both-ways"),
            Case(name, {**sizes, "bias": False}, floats(5, 4), label="unbatched"),
            Case(f"{name}Cell", sizes, floats(2, 4)),
            Case(f"{name}Cell", {**sizes, "bias": False}, floats(4), *[floats(3)] * states, label="unbatched"),
        ]
    attention = {"embed_dim": 6, "num_heads": 2}
    x, y = floats(5, 2, 8), floats(5, 2, 6)
    layer = {"d_model": 8, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0}
    return cases + [
        Case("RNN", {**sizes, "nonlinearity": "relu"}, floats(5, 2, 4), label="relu"),
        Case("RNNCell", {**sizes, "nonlinearity": "relu"}, floats(2, 4), label="relu"),
        Case("LSTM", {**sizes, "proj_size": 2}, floats(5, 2, 4), label="projected"),
        Case("MultiheadAttention", attention, y, y, y),
        Case("MultiheadAttention", {**attention, "dropout": 0.2, "bias": False, "add_bias_kv": True,
                                    "add_zero_attn": True, "kdim": 5, "vdim": 4, "batch_first": True},
             floats(2, 5, 6), floats(2, 3, 5), floats(2, 3, 4), label="all",
             call={"average_attn_weights": False}, call_tensors={"attn_mask": floats(5, 3)}),
        Case("MultiheadAttention", attention, y, y, y, label="unweighted", call={"need_weights": False},
             call_tensors={"key_padding_mask": values([[False] * 4 + [True], [True] + [False] * 4])}),
        Case("TransformerEncoderLayer", layer, x),
        Case("TransformerEncoderLayer", {**layer, "activation": "gelu", "layer_norm_eps": 1e-3, "batch_first": True,
                                         "norm_first": True, "bias": False}, floats(2, 5, 8), label="before"),
        Case("TransformerDecoderLayer", layer, x, floats(4, 2, 8)),
        Case("TransformerDecoderLayer", {**layer, "activation": "gelu", "layer_norm_eps": 1e-3, "batch_first": True,
                                         "norm_first": True, "bias": False}, floats(2, 5, 8), floats(2, 4, 8),
             label="before"),
        Case("Transformer", {**layer, "num_encoder_layers": 3, "num_decoder_layers": 2}, x, floats(4, 2, 8)),
        Case("Transformer", {**layer, "num_encoder_layers": 0, "num_decoder_layers": 1}, x, floats(4, 2, 8),
             label="decoder"),
        Case("Transformer", {**layer, "num_encoder_layers": 1, "num_decoder_layers": 1, "activation": "gelu",
                             "layer_norm_eps": 1e-3, "batch_first": True, "norm_first": True, "bias": False},
             floats(2, 5, 8), floats(2, 4, 8), label="before"),
    ]


MODULES = [*_activations(), *_layers(), *_norms(), *_convolutions(), *_pools_and_pads(), *_losses(), *_sequences()]

# Initial values: name, shape, options.
INITS: list[tuple[str, list[int], dict[str, Any]]] = [
    ("zeros_", [3], {}), ("ones_", [3], {}), ("constant_", [3], {"val": 0.3}), ("eye_", [3, 4], {}),
    ("dirac_", [6, 4, 3, 2], {"groups": 2}), ("dirac_", [4, 2, 3], {"groups": 1}),
    ("uniform_", [4, 3], {"a": -0.5, "b": 0.7}), ("normal_", [4, 3], {"mean": 0.2, "std": 0.6}),
    ("trunc_normal_", [8, 8], {"mean": 0.1, "std": 1.5, "a": -1.0, "b": 0.8}),
    ("sparse_", [7, 5], {"sparsity": 0.3, "std": 0.1}),
    ("kaiming_uniform_", [4, 3, 2], {"a": 0.2, "mode": "fan_out", "nonlinearity": "leaky_relu"}),
    ("kaiming_normal_", [4, 3, 2], {"a": 0.0, "mode": "fan_in", "nonlinearity": "selu"}),
    ("xavier_uniform_", [4, 3, 2], {"gain": 1.4}), ("xavier_normal_", [4, 3, 2], {"gain": 0.6}),
    ("orthogonal_", [4, 3, 2], {"gain": 1.5}), ("orthogonal_", [6, 3], {"gain": 1.0}),
]

# Optimizers, ten steps each, in the middle of which C++ goes on from a saved state.
# name: class, options, and what else there is: "dtype", "bias" (False: one parameter), "second_lr", "schedule".
_ADAM = {"lr": 0.02, "betas": [0.8, 0.95], "eps": 1e-6}
OPTIMIZERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "adadelta": ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-4, "weight_decay": 0.1}, {}),
    "adadelta-up": ("Adadelta", {"maximize": True}, {"second_lr": 0.3}),
    "adafactor": ("Adafactor", {"lr": 0.1, "beta2_decay": -0.7, "d": 1.2, "weight_decay": 0.1}, {}),
    "adafactor-up": ("Adafactor", {"eps": [1e-6, 1e-2], "maximize": True}, {"dtype": "float64"}),
    "adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.2,
                            "eps": 1e-6}, {}),
    "adagrad-up": ("Adagrad", {"maximize": True}, {}),
    "adam": ("Adam", _ADAM, {}), "adam-plain": ("Adam", {**_ADAM, "fused": False}, {}),
    "adam-amsgrad": ("Adam", {**_ADAM, "amsgrad": True, "weight_decay": 0.1, "maximize": True}, {"second_lr": 0.1}),
    "adam-plain-amsgrad": ("Adam", {**_ADAM, "amsgrad": True, "weight_decay": 0.1, "maximize": True, "fused": False},
                           {"dtype": "float64"}),
    "adam-complex": ("Adam", _ADAM, {"dtype": "complex64"}),
    "adamw": ("AdamW", _ADAM, {}), "adamw-plain": ("AdamW", {**_ADAM, "fused": False, "weight_decay": 0.2}, {}),
    "adamw-amsgrad": ("AdamW", {**_ADAM, "amsgrad": True, "maximize": True, "fused": False}, {"dtype": "float64"}),
    "adamax": ("Adamax", {**_ADAM, "weight_decay": 0.1}, {}), "adamax-up": ("Adamax", {"maximize": True}, {}),
    "asgd": ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.6, "t0": 3.0, "weight_decay": 0.1}, {}),
    "asgd-up": ("ASGD", {"maximize": True}, {"dtype": "complex64"}),
    "lbfgs": ("LBFGS", {"lr": 0.5, "max_iter": 3, "history_size": 4}, {}),
    "lbfgs-search": ("LBFGS", {"max_iter": 4, "max_eval": 9, "tolerance_grad": 1e-6, "tolerance_change": 1e-8,
                               "line_search_fn": "strong_wolfe"}, {"dtype": "float64"}),
    "lbfgs-up": ("LBFGS", {"lr": 0.1, "max_iter": 2, "maximize": True}, {}),
    "muon": ("Muon", {"lr": 0.1}, {"bias": False}),
    "muon-rms": ("Muon", {"lr": 0.1, "weight_decay": 0.0, "momentum": 0.8, "nesterov": False, "eps": 1e-6, "ns_steps": 3,
                          "ns_coefficients": [3.0, -4.0, 2.0], "adjust_lr_fn": "match_rms_adamw"}, {"bias": False}),
    "nadam": ("NAdam", {**_ADAM, "weight_decay": 0.1, "momentum_decay": 0.01}, {}),
    "nadam-decoupled": ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}, {}),
    "radam": ("RAdam", {**_ADAM, "weight_decay": 0.1}, {}),
    "radam-decoupled": ("RAdam", {"betas": [0.9, 0.7], "weight_decay": 0.1, "decoupled_weight_decay": True,
                                  "maximize": True}, {}),
    "rmsprop": ("RMSprop", {"lr": 0.05, "alpha": 0.9, "eps": 1e-6, "weight_decay": 0.1}, {}),
    "rmsprop-centered": ("RMSprop", {"momentum": 0.8, "centered": True, "maximize": True}, {"second_lr": 0.1}),
    "rprop": ("Rprop", {"lr": 0.05, "etas": [0.4, 1.3], "step_sizes": [1e-4, 1.0]}, {}),
    "rprop-up": ("Rprop", {"maximize": True}, {}),
    "sgd": ("SGD", {"lr": 0.1}, {}), "sgd-plain": ("SGD", {"lr": 0.1, "weight_decay": 0.1, "fused": False}, {}),
    "sgd-momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "maximize": True}, {"second_lr": 0.3}),
    "sgd-nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "fused": False}, {}),
    "sgd-complex": ("SGD", {"lr": 0.1, "momentum": 0.9}, {"dtype": "complex64"}),
}

_EXPONENTIAL = {"class": "ExponentialLR", "options": {"gamma": 0.9}}
_CONSTANT = {"class": "ConstantLR", "options": {"factor": 0.5, "total_iters": 2}}
_PLATEAU = {"mode": "min", "factor": 0.5, "patience": 1, "threshold": 0.1, "cooldown": 1, "min_lr": [0.01, 0.02]}
SCHEDULES: dict[str, dict[str, Any]] = {
    "lambda": {"class": "LambdaLR", "options": {}},
    "multiplicative": {"class": "MultiplicativeLR", "options": {}},
    "step": {"class": "StepLR", "options": {"step_size": 3, "gamma": 0.3}},
    "multi-step": {"class": "MultiStepLR", "options": {"milestones": [2, 4, 4, 7], "gamma": 0.7}},
    "exponential": _EXPONENTIAL,
    "constant": _CONSTANT,
    "linear": {"class": "LinearLR", "options": {"start_factor": 0.2, "end_factor": 0.9, "total_iters": 6}},
    "polynomial": {"class": "PolynomialLR", "options": {"total_iters": 6, "power": 1.7}},
    "cosine": {"class": "CosineAnnealingLR", "options": {"T_max": 4, "eta_min": 0.01}},
    "restarts": {"class": "CosineAnnealingWarmRestarts", "options": {"T_0": 2, "T_mult": 2, "eta_min": 0.01}},
    "cyclic": {"class": "CyclicLR", "options": {"base_lr": 0.01, "max_lr": [0.1, 0.2], "step_size_up": 3,
                                               "step_size_down": 2, "mode": "triangular2", "gamma": 1.0}},
    "cyclic-range": {"class": "CyclicLR", "options": {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3,
                                                     "mode": "exp_range", "gamma": 0.9, "base_momentum": 0.7,
                                                     "max_momentum": 0.95}},
    "one-cycle": {"class": "OneCycleLR", "options": {"max_lr": [0.1, 0.2], "total_steps": 12}},
    "one-cycle-three": {"class": "OneCycleLR", "options": {
        "max_lr": 0.1, "total_steps": 12, "pct_start": 0.4, "anneal_strategy": "linear", "base_momentum": 0.7,
        "max_momentum": 0.9, "div_factor": 10.0, "final_div_factor": 100.0, "three_phase": True}},
    "swa": {"class": "SWALR", "options": {"swa_lr": [0.05, 0.03], "anneal_epochs": 6, "anneal_strategy": "cos"}},
    "swa-linear": {"class": "SWALR", "options": {"swa_lr": 0.05, "anneal_epochs": 0, "anneal_strategy": "linear"}},
    "plateau": {"class": "ReduceLROnPlateau", "options": _PLATEAU},
    "plateau-max": {"class": "ReduceLROnPlateau", "options": {
        **_PLATEAU, "mode": "max", "threshold_mode": "abs", "eps": 1e-3, "patience": 0, "min_lr": 0.01}},
    "chained": {"class": "ChainedScheduler", "schedulers": [_CONSTANT, _EXPONENTIAL]},
    "sequential": {"class": "SequentialLR", "milestones": [3, 6], "schedulers": [
        _CONSTANT, {"class": "LinearLR", "options": {"start_factor": 0.5, "end_factor": 1.0, "total_iters": 3}},
        {"class": "ChainedScheduler", "schedulers": [_EXPONENTIAL, _CONSTANT]}]},
}
_MULTIPLIED = {"class": "MultiplicativeLR", "options": {}}
SCHEDULES["sequential-multiplied"] = {
    "class": "SequentialLR", "milestones": [3, 6], "schedulers": [
        _MULTIPLIED, SCHEDULES["cosine"], {"class": "ChainedScheduler", "schedulers": [_MULTIPLIED, _CONSTANT]}]}
SCHEDULES["sequential-swa"] = {"class": "SequentialLR", "milestones": [2, 6], "schedulers": [
    _EXPONENTIAL, SCHEDULES["swa"], _MULTIPLIED]}
MEASURES = [1.0, 0.8, 0.79, 0.785, 0.9, 1.2, 0.3, 0.3, 0.3, 0.3]

# ---- what only one language has -----------------------------------------------------------------------------------------

_NO_CALLABLE = "containers are called by whoever made them: tests/nn and tests/python test each"
_ONE_NAME = "an older name of another module"
PYTHON_ALONE = {
    **{f"Lazy{name}{d}d": "a module in C++ has the class that it was made with" for d in (1, 2, 3)
       for name in ("BatchNorm", "InstanceNorm", "Conv", "ConvTranspose")},
    "LazyLinear": "a module in C++ has the class that it was made with",
    "NLLLoss2d": _ONE_NAME, "UpsamplingNearest2d": _ONE_NAME, "UpsamplingBilinear2d": _ONE_NAME,
}
NOT_RUN = {
    **dict.fromkeys(("Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"), _NO_CALLABLE),
    **dict.fromkeys(("RNNBase", "RNNCellBase"), "what recurrent layers share"),
    **dict.fromkeys(("TransformerEncoder", "TransformerDecoder"), "takes a layer in Python, and its options in C++; "
                    "Transformer has both"),
    **dict.fromkeys(("Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"), "a tensor, no module"),
}
# Functions that are written in Python; operators are in both languages.
FUNCTIONS_IN_PYTHON_ALONE = {
    **{f"{name}{d}d": f"{name}<{d}>" for name in ("lp_pool", "max_unpool") for d in (1, 2, 3)},
    **{f"fractional_max_pool{d}d{end}": f"fractional_max_pool_with_indices<{d}>" for d in (2, 3)
       for end in ("", "_with_indices")},
    **{f"adaptive_max_pool{d}d_with_indices": "what the operator adaptive_max_pool gives" for d in (1, 2, 3)},
    **dict.fromkeys(("upsample", "upsample_nearest", "upsample_bilinear"), "older names of interpolate"),
    "rrelu_": "rrelu with inplace",
    "conv_tbc": "a convolution of a permuted input",
    "multi_head_attention_forward": "MultiheadAttention::forward",
}
FUNCTIONS_IN_CPP_ALONE = {"lp_pool", "max_unpool", "fractional_max_pool_with_indices", "embedding_renorm_"}
# Helpers: functions of nn.utils, nn.utils.rnn and optim.swa_utils, and the classes of the last two.
_HOOKS = "computes a weight anew before each call, and modules in C++ have no hooks"
_COPIES = "copies a module, which C++ cannot"
HELPERS_IN_PYTHON_ALONE = {
    **dict.fromkeys(("weight_norm", "remove_weight_norm", "spectral_norm", "remove_spectral_norm"), _HOOKS),
    **dict.fromkeys(("fuse_conv_bn_eval", "fuse_linear_bn_eval"), _COPIES),
    **dict.fromkeys(("fuse_conv_bn_weights", "fuse_linear_bn_weights"), "what fuse_conv_bn_eval is made of"),
    **dict.fromkeys(("get_ema_multi_avg_fn", "get_swa_multi_avg_fn"), "the same of lists, for avg_fn's sake in PyTorch"),
    "skip_init": "a module in C++ draws its values when it is made",
}
# Arguments of constructors.
OPTIONS_IN_PYTHON_ALONE = {
    **dict.fromkeys(("device", "dtype"), "Module::to converts"),
    **dict.fromkeys(("size_average", "reduce"), "older ways to say reduction"),
    **dict.fromkeys(("min_value", "max_value"), "older names of min_val and max_val"),
    **dict.fromkeys(("_weight", "_freeze"), "from_pretrained's way into the constructor"),
    "sparse": "there are no sparse gradients: True is refused",
    "_random_samples": "for tests of Python",
    "distance_function": "a function: it cannot stand in a file",
    **dict.fromkeys(("custom_encoder", "custom_decoder"), "Python takes any module there"),
    "args": "Identity ignores what it is given", "kwargs": "Identity ignores what it is given",
}
