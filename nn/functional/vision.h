// Images on another grid, and as patches.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/nn/expanding_array.h>
#include <keyway/nn/option.h>
#include <keyway/tensor.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::nn::functional {

class InterpolateFuncOptions {
  // Of the dimensions behind the first two: one number, or one for each. One of both is given.
  KEYWAY_OPTION(std::optional<std::vector<std::int64_t>>, size);
  KEYWAY_OPTION(std::optional<std::vector<double>>, scale_factor);
  KEYWAY_OPTION(std::string, mode) = "nearest";
  KEYWAY_OPTION(std::optional<bool>, align_corners);
  KEYWAY_OPTION(std::optional<bool>, recompute_scale_factor);
  KEYWAY_OPTION(bool, antialias) = false;
};
// Images [batch, channels, ...] of one to three dimensions made larger or smaller. mode: "nearest" and "nearest-exact",
// which takes the nearest by the elements' centres, not by their beginnings; "linear" of one dimension, "bilinear" and
// "bicubic" of two, "trilinear" of three; or "area", the mean of what an element covers. align_corners: the linear and
// cubic ones lay the centres of outer elements on each other, not their edges. recompute_scale_factor: the scale is
// that of the sizes, of which the new one is rounded down. antialias: "bilinear" and "bicubic" weigh all that an
// element of a smaller image covers. Throws keyway::Error for options that do not fit each other or the input.
KEYWAY_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options);

// Each window of images [batch, channels, height, width], or without batch, as a column: [batch, channels * window,
// count].
KEYWAY_API Tensor unfold(const Tensor& input, ExpandingArray<2> kernel_size, ExpandingArray<2> dilation = 1,
                         ExpandingArray<2> padding = 0, ExpandingArray<2> stride = 1);
// Images [batch, channels, *output_size] whose windows are the columns of `input`, added up where they overlap.
KEYWAY_API Tensor fold(const Tensor& input, ExpandingArray<2> output_size, ExpandingArray<2> kernel_size,
                       ExpandingArray<2> dilation = 1, ExpandingArray<2> padding = 0, ExpandingArray<2> stride = 1);

class GridSampleFuncOptions {
  KEYWAY_OPTION(std::string, mode) = "bilinear";       // or "nearest", or of images "bicubic"
  KEYWAY_OPTION(std::string, padding_mode) = "zeros";  // what lies beyond: or "border" or "reflection"
  KEYWAY_OPTION(bool, align_corners) = false;
};
// Elements of images [batch, channels, height, width] at the positions of `grid` [batch, rows, columns, 2]: x and y
// from -1 to 1, which are the centres of the outer elements with align_corners, else their edges. Or of volumes [batch,
// channels, depth, height, width] at positions [batch, depths, rows, columns, 3] of x, y and z. Throws keyway::Error
// for unknown modes.
KEYWAY_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});
// A grid [batch, height, width, 2] for grid_sample out of matrices `theta` [batch, 2, 3]: where each position of an
// image of `size` (batch, channels, height, width) comes from. Or [batch, depth, height, width, 3] out of [batch, 3,
// 4]. Throws keyway::Error where theta and size do not fit.
KEYWAY_API Tensor affine_grid(const Tensor& theta, const std::vector<std::int64_t>& size, bool align_corners = false);

}  // namespace keyway::inline v1::nn::functional
