"""Images on another grid, as patches, and with channels as pixels."""

import math

import pytest

import keyway
import keyway.nn.functional as F
from keyway import nn
from keyway.autograd import gradcheck
from keyway.testing import assert_close


def image(*sizes: int, requires_grad: bool = False) -> keyway.Tensor:
    keyway.manual_seed(0)
    return keyway.randn(*sizes, dtype=keyway.float64).requires_grad_(requires_grad)


# --- interpolate

def test_nearest_takes_the_element_that_a_position_comes_to_lie_on():
    x = keyway.arange(4.0).reshape(1, 1, 4)
    assert F.interpolate(x, 6).tolist() == [[[0, 0, 1, 2, 2, 3]]]
    assert F.interpolate(x, scale_factor=0.5).tolist() == [[[0, 2]]]
    assert F.interpolate(x, scale_factor=1.3).shape == (1, 1, 5)
    assert F.interpolate(keyway.ones(1, 2, 3, 4), scale_factor=(2, 0.5)).shape == (1, 2, 6, 2)
    assert F.interpolate(keyway.ones(1, 2, 2, 2, 2), 3).shape == (1, 2, 3, 3, 3)


def test_linear_modes_weigh_neighbours():
    x = keyway.tensor([[[0.0, 4.0]]])
    assert F.interpolate(x, 4, mode="linear").tolist() == [[[0, 1, 3, 4]]]
    assert F.interpolate(x, 5, mode="linear", align_corners=True).tolist() == [[[0, 1, 2, 3, 4]]]
    y = keyway.tensor([[[[0.0, 2.0], [4.0, 6.0]]]])
    assert F.interpolate(y, 3, mode="bilinear", align_corners=True).tolist() == [[[[0, 1, 2], [2, 3, 4], [4, 5, 6]]]]
    assert F.interpolate(y, 2, mode="bilinear") is not y


def test_an_infinite_element_stays_among_its_neighbours():
    x = keyway.ones(1, 1, 1, 40)
    x[0, 0, 0, 0] = math.inf
    for mode in ("bilinear", "bicubic"):
        for antialias in (False, True):
            shrunk = F.interpolate(x, (1, 10), mode=mode, antialias=antialias).flatten()
            assert shrunk[4:].tolist() == pytest.approx([1.0] * 6)


@pytest.mark.parametrize(
    ("mode", "antialias", "larger", "smaller"),
    [
        ("bilinear", False, [[0, 102, 255, 108, 10], [50, 83, 131, 116, 106], [100, 63, 7, 123, 201]], [71, 112]),
        ("bilinear", True, [[0, 102, 255, 108, 10], [50, 83, 131, 116, 106], [100, 63, 7, 123, 201]], [81, 115]),
        ("bicubic", False, [[0, 123, 255, 123, 0], [55, 84, 131, 121, 110], [118, 44, 0, 119, 239]], [69, 114]),
        ("bicubic", True, [[0, 103, 255, 106, 0], [54, 80, 131, 118, 108], [114, 56, 0, 130, 230]], [80, 118]),
    ],
)
def test_bytes_are_weighed_in_whole_numbers(mode, antialias, larger, smaller):
    """As PyTorch 2.15 has them."""
    x = keyway.tensor([[[[0, 255, 10], [100, 7, 201]]]], dtype=keyway.uint8)
    assert F.interpolate(x, (3, 5), mode=mode, antialias=antialias).tolist() == [[larger]]
    assert F.interpolate(x, (1, 2), mode=mode, antialias=antialias).tolist() == [[[smaller]]]
    assert F.interpolate(x, (2, 3), mode=mode, antialias=antialias) is not x
    assert F.interpolate(x.to("meta"), (3, 5), mode=mode, antialias=antialias).shape == (1, 1, 3, 5)


def test_the_scale_is_the_given_one_unless_it_is_recomputed():
    x = keyway.arange(10.0).reshape(1, 1, 10)
    given = F.interpolate(x, scale_factor=0.26, mode="linear")
    again = F.interpolate(x, scale_factor=0.26, mode="linear", recompute_scale_factor=True)
    assert_close(given, keyway.tensor([[[1 / 0.52 - 0.5, 3 / 0.52 - 0.5]]]))
    assert_close(again, keyway.tensor([[[2.0, 7.0]]]))


def test_linear_modes_keep_a_dimension_that_keeps_its_size_whatever_the_scale():
    x = keyway.tensor([[[1.0, 5.0]]])
    assert F.interpolate(x, scale_factor=1.3, mode="linear").tolist() == x.tolist()


def test_area_is_the_mean_of_what_an_element_covers():
    x = keyway.arange(6.0).reshape(1, 1, 6)
    assert F.interpolate(x, 2, mode="area").tolist() == [[[1, 4]]]
    assert F.interpolate(x, scale_factor=0.5, mode="area").tolist() == [[[0.5, 2.5, 4.5]]]


@pytest.mark.parametrize("mode, sizes", [("linear", (3,)), ("bilinear", (3, 2)), ("trilinear", (2, 3, 2)),
                                         ("nearest", (3, 2)), ("nearest-exact", (3, 2)), ("bicubic", (3, 2))])
def test_gradients_of_interpolate(mode, sizes):
    x = image(2, 2, *sizes, requires_grad=True)
    assert gradcheck(lambda x: F.interpolate(x, scale_factor=1.7, mode=mode), (x,))


def test_nearest_exact_goes_by_the_centres_of_elements():
    x = keyway.arange(4.0).reshape(1, 1, 4)
    assert F.interpolate(x, 2, mode="nearest-exact").tolist() == [[[1, 3]]]
    assert F.interpolate(x, 6, mode="nearest-exact").tolist() == [[[0, 1, 1, 2, 3, 3]]]
    assert F.interpolate(keyway.ones(1, 2, 2, 2, 2), 3, mode="nearest-exact").shape == (1, 2, 3, 3, 3)


def test_cubic_convolution_has_slope_three_quarters():
    x = keyway.zeros(1, 1, 1, 7)
    x[..., 3] = 1
    halves = F.interpolate(x, (1, 13), mode="bicubic", align_corners=True)[0, 0, 0]
    # At distances 1/2 and 3/2: 1.25/8 - 2.25/4 + 1, and -0.75/8 * (27 - 90 + 96 - 32).
    assert_close(halves[3:10], keyway.tensor([-0.09375, 0, 0.59375, 1, 0.59375, 0, -0.09375]))
    assert_close(F.interpolate(keyway.ones(1, 1, 5, 4), (3, 9), mode="bicubic"), keyway.ones(1, 1, 3, 9))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiasing_weighs_all_that_an_element_covers(mode):
    x = image(1, 2, 12, 9)
    smaller = F.interpolate(x, (1, 3), mode=mode, antialias=True)
    assert not keyway.equal(smaller, F.interpolate(x, (1, 3), mode=mode))
    assert_close(F.interpolate(keyway.ones_like(x), (5, 2), mode=mode, antialias=True),
                 keyway.ones(1, 2, 5, 2, dtype=x.dtype))
    assert_close(F.interpolate(x, (12, 9), mode=mode, antialias=True), x)
    assert gradcheck(lambda x: F.interpolate(x, (5, 2), mode=mode, antialias=True), (x.requires_grad_(True),))


def test_a_triangle_twice_as_wide():
    x = keyway.tensor([[[[1.0, 2.0, 6.0, 7.0]]]])
    # Weights 3/4, 3/4 and 1/4 of the first three, and of the last three.
    expected = keyway.tensor([[[[(0.75 * 3 + 0.25 * 6) / 1.75, (0.25 * 2 + 0.75 * 13) / 1.75]]]])
    assert_close(F.interpolate(x, (1, 2), mode="bilinear", antialias=True), expected)


@pytest.mark.parametrize("arguments, error", [
    ({}, keyway.ValueError), ({"size": 2, "scale_factor": 2.0}, keyway.ValueError),
    ({"size": (2, 2, 2)}, keyway.ValueError), ({"size": 2, "align_corners": True}, keyway.ValueError),
    ({"size": 2, "recompute_scale_factor": True}, keyway.ValueError), ({"size": 0}, keyway.Error),
    ({"scale_factor": -1.0}, keyway.Error), ({"scale_factor": math.nan}, keyway.Error),
    ({"scale_factor": 1e300}, keyway.Error), ({"size": 2, "mode": "linear"}, keyway.NotImplementedError),
    ({"size": 2, "mode": "nearest-exact", "align_corners": False}, keyway.ValueError),
    ({"size": 2, "antialias": True}, keyway.ValueError), ({"size": 2, "mode": "cubic"}, keyway.NotImplementedError),
])
def test_what_interpolate_refuses(arguments, error):
    with pytest.raises(error):
        F.interpolate(keyway.ones(1, 1, 2, 2), **arguments)


# --- grid_sample

def test_an_identity_grid_gives_the_image():
    x = image(2, 3, 4, 5)
    theta = keyway.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=keyway.float64).expand(2, -1, -1)
    for align_corners in (False, True):
        grid = F.affine_grid(theta, (2, 3, 4, 5), align_corners)
        assert_close(F.grid_sample(x, grid, align_corners=align_corners), x)
        assert_close(F.grid_sample(x, grid, "nearest", align_corners=align_corners), x)
        assert_close(F.grid_sample(x, grid, "bicubic", align_corners=align_corners), x)


def test_an_identity_grid_gives_the_volume():
    x = image(2, 3, 4, 5, 2)
    theta = keyway.eye(3, 4, dtype=keyway.float64).expand(2, -1, -1)
    for align_corners in (False, True):
        grid = F.affine_grid(theta, (2, 3, 4, 5, 2), align_corners)
        assert_close(F.grid_sample(x, grid, align_corners=align_corners), x)
        assert_close(F.grid_sample(x, grid, "nearest", align_corners=align_corners), x)


def test_a_point_of_a_grid_counts_along_the_last_dimension_first():
    x = keyway.arange(24.0).reshape(1, 1, 2, 3, 4)
    grid = keyway.tensor([1.0, 0.0, -1.0]).reshape(1, 1, 1, 1, 3)
    assert F.grid_sample(x, grid, align_corners=True).item() == x[0, 0, 0, 1, 3]


def test_what_lies_beyond_the_image():
    x = keyway.tensor([[[[1.0, 2.0, 3.0]]]])
    grid = keyway.tensor([[[[-1.0, 0.0], [-2.0, 0.0], [3.0, 0.0]]]])
    assert F.grid_sample(x, grid, align_corners=True).tolist() == [[[[1, 0, 0]]]]
    assert F.grid_sample(x, grid, padding_mode="border", align_corners=True).tolist() == [[[[1, 1, 3]]]]
    assert F.grid_sample(x, grid, padding_mode="reflection", align_corners=True).tolist() == [[[[1, 2, 1]]]]
    nowhere = keyway.full((1, 1, 1, 2), math.nan)
    assert F.grid_sample(x, nowhere, align_corners=True).tolist() == [[[[0]]]]


@pytest.mark.parametrize("mode, dims", [("bilinear", 2), ("bicubic", 2), ("bilinear", 3)])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_gradients_of_grid_sample(mode, dims, padding_mode, align_corners):
    grid = image(2, *(2, 3, 1)[:dims], dims).mul(0.9).requires_grad_(True)
    x = image(2, 2, *(3, 4, 2)[:dims], requires_grad=True)
    assert gradcheck(lambda a, g: F.grid_sample(a, g, mode, padding_mode, align_corners), (x, grid))


def test_what_grid_sample_refuses():
    x, grid = keyway.ones(1, 1, 2, 2), keyway.zeros(1, 1, 1, 2)
    with pytest.raises(keyway.ValueError, match="padding_mode"):
        F.grid_sample(x, grid, padding_mode="wrap")
    with pytest.raises(keyway.ValueError, match="interpolation_mode"):
        F.grid_sample(keyway.ones(1, 1, 2, 2, 2), keyway.zeros(1, 1, 1, 1, 3), "bicubic")
    with pytest.raises(keyway.Error, match="grid"):
        F.grid_sample(x, keyway.zeros(2, 1, 1, 2))


# --- Patches

def test_a_convolution_is_a_product_with_patches():
    x, weight = image(2, 3, 5, 6), image(4, 3, 2, 3)
    options = {"dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}
    columns = F.unfold(x, (2, 3), **options)
    result = weight.reshape(4, 18) @ columns
    expected = F.conv2d(x, weight, **options)
    assert_close(result.reshape(expected.shape), expected)


def test_fold_is_the_transpose_of_unfold():
    x = image(2, 2, 5, 4)
    unfold = nn.Unfold((2, 3), padding=1, stride=(2, 1))
    fold = nn.Fold((5, 4), (2, 3), padding=1, stride=(2, 1))
    y = unfold(x)
    other = keyway.randn_like(y)
    assert_close((y * other).sum(), (x * fold(other)).sum())
    assert fold(y[0]).shape == (2, 5, 4)
    assert gradcheck(unfold, (image(1, 2, 5, 4, requires_grad=True),))
    assert gradcheck(fold, (other.detach().requires_grad_(True),))


def test_shuffles_and_back():
    x = image(2, 8, 3, 2)
    assert nn.PixelShuffle(2)(x).shape == (2, 2, 6, 4)
    assert keyway.equal(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)), x)
    assert keyway.equal(F.pixel_shuffle(x, 2)[:, 0, 1, 0], x[:, 2, 0, 0])
    assert keyway.equal(nn.ChannelShuffle(4)(nn.ChannelShuffle(2)(x)), x)


def test_modules_of_interpolate():
    x = image(1, 2, 2, 3)
    assert keyway.equal(nn.Upsample(scale_factor=2.0)(x), F.interpolate(x, scale_factor=2.0))
    assert keyway.equal(nn.UpsamplingNearest2d(size=4)(x), F.interpolate(x, 4))
    assert_close(nn.UpsamplingBilinear2d(size=4)(x), F.interpolate(x, 4, mode="bilinear", align_corners=True))
    assert repr(nn.Upsample(scale_factor=2.0)) == "Upsample(scale_factor=2.0, mode='nearest')"
    assert repr(nn.Fold(4, 2)) == "Fold(output_size=4, kernel_size=2, dilation=1, padding=0, stride=1)"
