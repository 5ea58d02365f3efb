#include <keyway/nn/functional/of_dims.h>
#include <keyway/nn/init.h>
#include <keyway/nn/modules/conv.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace keyway::inline v1::nn {

namespace {

template <std::size_t D>
std::ostream& operator<<(std::ostream& stream, const ExpandingArray<D>& sizes) {
  stream << "[" << sizes[0];
  for (std::size_t i = 1; i < D; ++i) stream << ", " << sizes[i];
  return stream << "]";
}

template <std::size_t D>
std::ostream& operator<<(std::ostream& stream, const ConvPadding<D>& padding) {
  return padding.name().empty() ? stream << padding.numbers() : stream << padding.name();
}

template <typename Options>
std::string class_of() {
  return (Options::kTransposed ? "ConvTranspose" : "Conv") + std::to_string(Options::kDims) + "d";
}

// What "same" adds to the input in each dimension: half of it in front, the rest behind.
template <std::size_t D>
std::int64_t total_of(const ConvOptions<D>& options, std::size_t i) {
  return options.dilation()[i] * (options.kernel_size()[i] - 1);
}

// The input with its border in padding_mode, which a convolution without padding takes.
template <std::size_t D>
Tensor with_border(const Tensor& input, const ConvOptions<D>& options) {
  std::vector<std::int64_t> borders;  // of the last dimension first
  for (std::size_t i = D; i-- > 0;) {
    const bool same = options.padding().name() == "same";
    const std::int64_t front = same ? total_of(options, i) / 2 : options.padding()[i];
    borders.insert(borders.end(), {front, same ? total_of(options, i) - front : front});
  }
  return pad(input, borders, options.padding_mode());
}

// convolve(input, padding), as padding and padding_mode want it.
template <std::size_t D, typename F>
Tensor padded(const Tensor& input, const ConvOptions<D>& options, const F& convolve) {
  if (options.padding_mode() != "zeros") return convolve(with_border(input, options), ExpandingArray<D>(0));
  if (options.padding().name() != "same") return convolve(input, options.padding().numbers());
  std::array<std::int64_t, D> halves{};
  std::vector<std::int64_t> rest;  // a zero more behind where the total is odd
  for (std::size_t i = D; i-- > 0;) {
    halves[i] = total_of(options, i) / 2;
    rest.insert(rest.end(), {0, total_of(options, i) % 2});
  }
  const bool is_odd = std::ranges::any_of(rest, [](std::int64_t size) { return size != 0; });
  return convolve(is_odd ? pad(input, rest) : input, ExpandingArray<D>(halves));
}

template <std::size_t D>
void check_padding(const ConvOptions<D>& options) {
  const std::string &name = options.padding().name(), &mode = options.padding_mode();
  KEYWAY_CHECK(mode == "zeros" || mode == "reflect" || mode == "replicate" || mode == "circular",
               "Conv{}d: padding_mode is '{}', but must be 'zeros', 'reflect', 'replicate' or 'circular'", D, mode);
  KEYWAY_CHECK(name.empty() || name == "valid" || name == "same",
               "Conv{}d: padding is '{}', but must be numbers, 'valid' or 'same'", D, name);
  for (std::size_t i = 0; i < D; ++i) {
    KEYWAY_CHECK(name != "same" || options.stride()[i] == 1, "Conv{}d: padding 'same' is for a stride of 1, not {}", D,
                 options.stride()[i]);
  }
}

template <std::size_t D>
void check_padding(const ConvTransposeOptions<D>& options) {
  KEYWAY_CHECK(options.padding_mode() == "zeros", "ConvTranspose{}d: padding_mode is '{}', but must be 'zeros'", D,
               options.padding_mode());
}

// What makes the result as large as it is wanted.
template <std::size_t D>
ExpandingArray<D> output_padding(const Tensor& input, const ConvTransposeOptions<D>& options,
                                 const std::optional<std::vector<std::int64_t>>& output_size) {
  if (!output_size) return options.output_padding();
  const std::size_t dims = input.sizes().size(), given = output_size->size();
  KEYWAY_CHECK(dims == D + 1 || dims == D + 2, "ConvTranspose{}d: the input has {} dimensions, but must have {} or {}",
               D, dims, D + 1, D + 2);
  KEYWAY_CHECK(given == D || given == dims, "ConvTranspose{}d: output_size has {} sizes, but must have {} or {}", D,
               given, D, dims);
  std::array<std::int64_t, D> padding{};
  for (std::size_t i = 0; i < D; ++i) {
    const std::int64_t stride = options.stride()[i], dilation = options.dilation()[i];
    const std::int64_t least = (input.sizes()[dims - D + i] - 1) * stride - 2 * options.padding()[i] +
                               dilation * (options.kernel_size()[i] - 1) + 1;
    padding[i] = (*output_size)[given - D + i] - least;
    KEYWAY_CHECK(0 <= padding[i] && padding[i] < stride,
                 "ConvTranspose{}d: output_size[{}] is {}, but must be in [{}, {})", D, given - D + i,
                 (*output_size)[given - D + i], least, least + stride);
  }
  return padding;
}

template <std::size_t D>
Tensor convolved(const ConvNd<ConvOptions<D>>& conv, const Tensor& input) {
  const auto& options = conv.options;
  return padded(input, options, [&](const Tensor& x, const ExpandingArray<D>& padding) {
    return KEYWAY_OF_DIMS(D, conv)(x, conv.weight, if_defined(conv.bias), options.stride(), padding, options.dilation(),
                                   options.groups());
  });
}

template <std::size_t D>
Tensor transposed(const ConvNd<ConvTransposeOptions<D>>& conv, const Tensor& input,
                  const std::optional<std::vector<std::int64_t>>& output_size) {
  const auto& options = conv.options;
  return KEYWAY_OF_DIMS(D, conv_transpose)(input, conv.weight, if_defined(conv.bias), options.stride(),
                                           options.padding(), output_padding(input, options, output_size),
                                           options.groups(), options.dilation());
}

}  // namespace

template <typename Options>
ConvNd<Options>::ConvNd(Options options_) : options(std::move(options_)) {
  const std::int64_t in = options.in_channels(), out = options.out_channels(), groups = options.groups();
  KEYWAY_CHECK(groups > 0 && in % groups == 0 && out % groups == 0,
               "{}: {} groups do not divide {} input and {} output channels", class_of<Options>(), groups, in, out);
  check_padding(options);
  std::vector<std::int64_t> sizes = {out, in / groups};
  if (Options::kTransposed) sizes = {in, out / groups};
  for (std::size_t i = 0; i < Options::kDims; ++i) sizes.push_back(options.kernel_size()[i]);
  weight = register_parameter("weight", keyway::empty(sizes));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor());
  reset_parameters();
}

template <typename Options>
void ConvNd<Options>::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const std::int64_t inputs = init::calculate_fan_in_and_fan_out(weight).in;
  if (!bias.defined() || inputs == 0) return;
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  init::uniform_(bias, -bound, bound);
}

template <typename Options>
void ConvNd<Options>::pretty_print(std::ostream& stream) const {
  stream << class_of<Options>() << "(" << options.in_channels() << ", " << options.out_channels()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", padding=" << options.padding() << ")";
}

template class ConvNd<ConvOptions<1>>;
template class ConvNd<ConvOptions<2>>;
template class ConvNd<ConvOptions<3>>;
template class ConvNd<ConvTransposeOptions<1>>;
template class ConvNd<ConvTransposeOptions<2>>;
template class ConvNd<ConvTransposeOptions<3>>;

Tensor Conv1dImpl::forward(const Tensor& input) { return convolved(*this, input); }
Tensor Conv2dImpl::forward(const Tensor& input) { return convolved(*this, input); }
Tensor Conv3dImpl::forward(const Tensor& input) { return convolved(*this, input); }

Tensor ConvTranspose1dImpl::forward(const Tensor& input, const std::optional<std::vector<std::int64_t>>& output_size) {
  return transposed(*this, input, output_size);
}
Tensor ConvTranspose2dImpl::forward(const Tensor& input, const std::optional<std::vector<std::int64_t>>& output_size) {
  return transposed(*this, input, output_size);
}
Tensor ConvTranspose3dImpl::forward(const Tensor& input, const std::optional<std::vector<std::int64_t>>& output_size) {
  return transposed(*this, input, output_size);
}

}  // namespace keyway::inline v1::nn
