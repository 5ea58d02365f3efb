// Borders around the last one, two or three dimensions: of one size, or of two for each dimension, the last one first.
#pragma once

#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
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
extern template class PadNd<1>;
extern template class PadNd<2>;
extern template class PadNd<3>;

template <std::size_t D>
class KEYWAY_API ConstantPadNd : public Module {
 public:
  explicit ConstantPadNd(ConstantPadOptions<D> options_) : options(options_) {}
  ConstantPadNd(ExpandingArray<2 * D> padding, double value) : options(padding, value) {}
  Tensor forward(const Tensor& input);
  ConstantPadOptions<D> options;
};
extern template class ConstantPadNd<1>;
extern template class ConstantPadNd<2>;
extern template class ConstantPadNd<3>;

// A border of a value.
class KEYWAY_API ConstantPad1dImpl : public ConstantPadNd<1> {
 public:
  using ConstantPadNd::ConstantPadNd;
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad1d = ModuleHolder<ConstantPad1dImpl>;

class KEYWAY_API ConstantPad2dImpl : public ConstantPadNd<2> {
 public:
  using ConstantPadNd::ConstantPadNd;
};
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad2d = ModuleHolder<ConstantPad2dImpl>;

class KEYWAY_API ConstantPad3dImpl : public ConstantPadNd<3> {
 public:
  using ConstantPadNd::ConstantPadNd;
};
using ConstantPad3dOptions = ConstantPadOptions<3>;
using ConstantPad3d = ModuleHolder<ConstantPad3dImpl>;

// A border of zeros.
class KEYWAY_API ZeroPad1dImpl : public PadNd<1> {
 public:
  ZeroPad1dImpl(PadOptions<1> options_) : PadNd(options_, "constant") {}  // NOLINT
};
using ZeroPad1dOptions = PadOptions<1>;
using ZeroPad1d = ModuleHolder<ZeroPad1dImpl>;

class KEYWAY_API ZeroPad2dImpl : public PadNd<2> {
 public:
  ZeroPad2dImpl(PadOptions<2> options_) : PadNd(options_, "constant") {}  // NOLINT
};
using ZeroPad2dOptions = PadOptions<2>;
using ZeroPad2d = ModuleHolder<ZeroPad2dImpl>;

class KEYWAY_API ZeroPad3dImpl : public PadNd<3> {
 public:
  ZeroPad3dImpl(PadOptions<3> options_) : PadNd(options_, "constant") {}  // NOLINT
};
using ZeroPad3dOptions = PadOptions<3>;
using ZeroPad3d = ModuleHolder<ZeroPad3dImpl>;

// A border of the elements at the other end.
class KEYWAY_API CircularPad1dImpl : public PadNd<1> {
 public:
  CircularPad1dImpl(PadOptions<1> options_) : PadNd(options_, "circular") {}  // NOLINT
};
using CircularPad1dOptions = PadOptions<1>;
using CircularPad1d = ModuleHolder<CircularPad1dImpl>;

class KEYWAY_API CircularPad2dImpl : public PadNd<2> {
 public:
  CircularPad2dImpl(PadOptions<2> options_) : PadNd(options_, "circular") {}  // NOLINT
};
using CircularPad2dOptions = PadOptions<2>;
using CircularPad2d = ModuleHolder<CircularPad2dImpl>;

class KEYWAY_API CircularPad3dImpl : public PadNd<3> {
 public:
  CircularPad3dImpl(PadOptions<3> options_) : PadNd(options_, "circular") {}  // NOLINT
};
using CircularPad3dOptions = PadOptions<3>;
using CircularPad3d = ModuleHolder<CircularPad3dImpl>;

// A border that is mirrored at the edge.
class KEYWAY_API ReflectionPad1dImpl : public PadNd<1> {
 public:
  ReflectionPad1dImpl(PadOptions<1> options_) : PadNd(options_, "reflect") {}  // NOLINT
};
using ReflectionPad1dOptions = PadOptions<1>;
using ReflectionPad1d = ModuleHolder<ReflectionPad1dImpl>;

class KEYWAY_API ReflectionPad2dImpl : public PadNd<2> {
 public:
  ReflectionPad2dImpl(PadOptions<2> options_) : PadNd(options_, "reflect") {}  // NOLINT
};
using ReflectionPad2dOptions = PadOptions<2>;
using ReflectionPad2d = ModuleHolder<ReflectionPad2dImpl>;

class KEYWAY_API ReflectionPad3dImpl : public PadNd<3> {
 public:
  ReflectionPad3dImpl(PadOptions<3> options_) : PadNd(options_, "reflect") {}  // NOLINT
};
using ReflectionPad3dOptions = PadOptions<3>;
using ReflectionPad3d = ModuleHolder<ReflectionPad3dImpl>;

// A border of the elements at the edge.
class KEYWAY_API ReplicationPad1dImpl : public PadNd<1> {
 public:
  ReplicationPad1dImpl(PadOptions<1> options_) : PadNd(options_, "replicate") {}  // NOLINT
};
using ReplicationPad1dOptions = PadOptions<1>;
using ReplicationPad1d = ModuleHolder<ReplicationPad1dImpl>;

class KEYWAY_API ReplicationPad2dImpl : public PadNd<2> {
 public:
  ReplicationPad2dImpl(PadOptions<2> options_) : PadNd(options_, "replicate") {}  // NOLINT
};
using ReplicationPad2dOptions = PadOptions<2>;
using ReplicationPad2d = ModuleHolder<ReplicationPad2dImpl>;

class KEYWAY_API ReplicationPad3dImpl : public PadNd<3> {
 public:
  ReplicationPad3dImpl(PadOptions<3> options_) : PadNd(options_, "replicate") {}  // NOLINT
};
using ReplicationPad3dOptions = PadOptions<3>;
using ReplicationPad3d = ModuleHolder<ReplicationPad3dImpl>;

}  // namespace keyway::inline v1::nn
