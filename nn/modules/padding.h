// Borders around the last one, two or three dimensions: of one size, or of two for each dimension, the last one first.
#pragma once

#include <keyway/core/schema/fixed_string.h>
#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

template <std::size_t D>
class PadOptions {
 public:
  PadOptions(ExpandingArray<2 * D> padding) : padding_(padding) {}                // NOLINT
  PadOptions(std::int64_t all) : padding_(all) {}                                 // NOLINT
  PadOptions(std::initializer_list<std::int64_t> padding) : padding_(padding) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<2 * D>, padding);
};

template <std::size_t D>
class ConstantPadOptions {
 public:
  ConstantPadOptions(ExpandingArray<2 * D> padding, double value) : padding_(padding), value_(value) {}
  KEYWAY_OPTION(ExpandingArray<2 * D>, padding);
  KEYWAY_OPTION(double, value);
};

// What those without a value share.
template <std::size_t D>
class KEYWAY_API PadNd : public Module {
 public:
  Tensor forward(const Tensor& input);
  PadOptions<D> options;

 protected:
  PadNd(PadOptions<D> options_, const char* mode) : options(options_), mode_(mode) {}

 private:
  const char* mode_;
};
template <std::size_t D, FixedString kMode>
class KEYWAY_API PadOf : public PadNd<D> {
 public:
  PadOf(PadOptions<D> options_) : PadNd<D>(options_, kMode.chars) {}  // NOLINT
};

template <std::size_t D>
class KEYWAY_API ConstantPadNd : public WithOptions<ConstantPadOptions<D>> {
 public:
  using WithOptions<ConstantPadOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input);
};

// A border of a value.
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;
KEYWAY_MODULE(ConstantPad1d, ConstantPadNd<1>);
KEYWAY_MODULE(ConstantPad2d, ConstantPadNd<2>);
KEYWAY_MODULE(ConstantPad3d, ConstantPadNd<3>);

// A border of zeros.
template <std::size_t D>
using ZeroPadNd = PadOf<D, "constant">;
using ZeroPad1dOptions = PadOptions<1>;
using ZeroPad2dOptions = PadOptions<2>;
using ZeroPad3dOptions = PadOptions<3>;
KEYWAY_MODULE(ZeroPad1d, ZeroPadNd<1>);
KEYWAY_MODULE(ZeroPad2d, ZeroPadNd<2>);
KEYWAY_MODULE(ZeroPad3d, ZeroPadNd<3>);

// A border of the elements at the other end.
template <std::size_t D>
using CircularPadNd = PadOf<D, "circular">;
using CircularPad1dOptions = PadOptions<1>;
using CircularPad2dOptions = PadOptions<2>;
using CircularPad3dOptions = PadOptions<3>;
KEYWAY_MODULE(CircularPad1d, CircularPadNd<1>);
KEYWAY_MODULE(CircularPad2d, CircularPadNd<2>);
KEYWAY_MODULE(CircularPad3d, CircularPadNd<3>);

// A border that is mirrored at the edge.
template <std::size_t D>
using ReflectionPadNd = PadOf<D, "reflect">;
using ReflectionPad1dOptions = PadOptions<1>;
using ReflectionPad2dOptions = PadOptions<2>;
using ReflectionPad3dOptions = PadOptions<3>;
KEYWAY_MODULE(ReflectionPad1d, ReflectionPadNd<1>);
KEYWAY_MODULE(ReflectionPad2d, ReflectionPadNd<2>);
KEYWAY_MODULE(ReflectionPad3d, ReflectionPadNd<3>);

// A border of the elements at the edge.
template <std::size_t D>
using ReplicationPadNd = PadOf<D, "replicate">;
using ReplicationPad1dOptions = PadOptions<1>;
using ReplicationPad2dOptions = PadOptions<2>;
using ReplicationPad3dOptions = PadOptions<3>;
KEYWAY_MODULE(ReplicationPad1d, ReplicationPadNd<1>);
KEYWAY_MODULE(ReplicationPad2d, ReplicationPadNd<2>);
KEYWAY_MODULE(ReplicationPad3d, ReplicationPadNd<3>);

}  // namespace keyway::inline v1::nn
