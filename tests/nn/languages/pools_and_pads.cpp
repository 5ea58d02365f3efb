#include <keyway/nn/modules/padding.h>
#include <keyway/nn/modules/pooling.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

template <std::size_t D>
using Sizes = nn::ExpandingArray<D>;

// With return_indices, forward_with_indices is called.
template <typename Holder>
Made with_indices(Holder module, Given& given) {
  bool return_indices = false;
  given.read("return_indices", return_indices);
  if (!return_indices) return made(module);
  const auto call = [module](const Tensors& x) {
    Tensors results;
    flatten(results, module->forward_with_indices(x[0]));
    return results;
  };
  return {module.ptr(), call};
}

template <typename Holder, std::size_t D>
Maker max_pool() {
  return [](Given& given) {
    nn::MaxPoolOptions<D> options(given.get<Sizes<D>>("kernel_size"));
    READ(stride), READ(padding), READ(dilation), READ(ceil_mode);
    return with_indices(Holder(options), given);
  };
}

template <typename Holder, std::size_t D>
Maker avg_pool() {
  return [](Given& given) {
    nn::AvgPoolOptions<D> options(given.get<Sizes<D>>("kernel_size"));
    READ(stride), READ(padding), READ(ceil_mode), READ(count_include_pad);
    if (D > 1) READ(divisor_override);
    return made_of<Holder>(options);
  };
}

template <std::size_t D>
nn::AdaptivePoolOptions<D> adaptive_options(Given& given) {
  return nn::AdaptivePoolOptions<D>(given.get<nn::ExpandingArrayWithOptionalElem<D>>("output_size"));
}

template <typename Holder, std::size_t D>
Maker adaptive_max_pool() {
  return [](Given& given) { return with_indices(Holder(adaptive_options<D>(given)), given); };
}

template <typename Holder, std::size_t D>
Maker adaptive_avg_pool() {
  return [](Given& given) { return made_of<Holder>(adaptive_options<D>(given)); };
}

template <typename Holder, std::size_t D>
Maker lp_pool() {
  return [](Given& given) {
    nn::LPPoolOptions<D> options(given.number("norm_type"), given.get<Sizes<D>>("kernel_size"));
    READ(stride), READ(ceil_mode);
    return made_of<Holder>(options);
  };
}

template <typename Holder, std::size_t D>
Maker max_unpool() {
  return [](Given& given) {
    nn::MaxUnpoolOptions<D> options(given.get<Sizes<D>>("kernel_size"));
    READ(stride), READ(padding);
    return made_of<Holder>(options);
  };
}

template <typename Holder, std::size_t D>
Maker fractional_max_pool() {
  return [](Given& given) {
    nn::FractionalMaxPoolOptions<D> options(given.get<Sizes<D>>("kernel_size"));
    READ(output_size), READ(output_ratio);
    return with_indices(Holder(options), given);
  };
}

template <typename Holder, std::size_t D>
Maker pad() {
  return [](Given& given) { return made_of<Holder>(nn::PadOptions<D>(given.get<Sizes<2 * D>>("padding"))); };
}

template <typename Holder, std::size_t D>
Maker constant_pad() {
  return [](Given& given) { return made(Holder(given.get<Sizes<2 * D>>("padding"), given.number("value"))); };
}

}  // namespace

#define OF_DIMS(name, maker) \
  {#name "1d", maker<name##1d, 1>()}, {#name "2d", maker<name##2d, 2>()}, { #name "3d", maker < name##3d, 3>() }

Makers pools_and_pads() {
  using namespace nn;
  return {
      OF_DIMS(MaxPool, max_pool),
      OF_DIMS(AvgPool, avg_pool),
      OF_DIMS(AdaptiveMaxPool, adaptive_max_pool),
      OF_DIMS(AdaptiveAvgPool, adaptive_avg_pool),
      OF_DIMS(LPPool, lp_pool),
      OF_DIMS(MaxUnpool, max_unpool),
      {"FractionalMaxPool2d", fractional_max_pool<FractionalMaxPool2d, 2>()},
      {"FractionalMaxPool3d", fractional_max_pool<FractionalMaxPool3d, 3>()},
      OF_DIMS(ConstantPad, constant_pad),
      OF_DIMS(ZeroPad, pad),
      OF_DIMS(CircularPad, pad),
      OF_DIMS(ReflectionPad, pad),
      OF_DIMS(ReplicationPad, pad),
  };
}

}  // namespace keyway::inline v1::testing
