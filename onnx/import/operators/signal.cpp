// Signals: windows and Fourier transforms.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace keyway::inline v1::onnx {

namespace {

// A sum of cosines: a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N).
Results window(const Call& call, double a0, double a1, double a2) {
  const std::int64_t size = call.integer(0);
  call.check(size >= 0, "the size is {}", size);
  const ScalarType dtype = dtype_of_element_type(call.attribute("output_datatype", 1));
  const std::int64_t period = call.attribute("periodic", 1) != 0 ? size : size - 1;
  const Tensor angle = mul(arange(Scalar(size), kDouble),
                           Scalar(2 * std::numbers::pi / static_cast<double>(std::max<std::int64_t>(period, 1))));
  const Tensor first = rsub(mul(cos(angle), Scalar(a1)), Scalar(a0));
  return {add(first, mul(cos(mul(angle, Scalar(2))), Scalar(a2))).to(dtype)};
}

Results hann(const Call& call) { return window(call, 0.5, 0.5, 0); }
Results hamming(const Call& call) { return window(call, 25.0 / 46, 21.0 / 46, 0); }
Results blackman(const Call& call) { return window(call, 0.42, 0.5, 0.08); }

// The last dimension has the real and, if there is one, the imaginary part.
Tensor as_complex(const Call& call, const Tensor& x) {
  call.check(x.dim() >= 2 && (x.size(-1) == 1 || x.size(-1) == 2), "the last of the sizes {} must be 1 or 2",
             x.sizes());
  const Tensor real_part = select(x, -1, 0);
  return view_as_complex(x.size(-1) == 2 ? x.contiguous() : stack({real_part, zeros_like(real_part)}, -1));
}

// As many elements as are asked for: the rest is left out, or there are zeros.
Tensor with_length(const Tensor& x, std::int64_t axis, std::int64_t length) {
  if (length <= x.size(axis)) return slice(x, axis, 0, length, 1);
  std::vector<std::int64_t> padding(2 * static_cast<std::size_t>(x.dim() - axis), 0);
  padding.back() = length - x.size(axis);
  return constant_pad_nd(x, padding);
}

// Inverse transforms are divided by the number of elements.
Tensor transformed(const Tensor& x, std::int64_t axis, bool inverse) {
  constexpr std::int64_t kPlain = 0, kDivided = 2;
  return _fft_c2c(x, axis, inverse ? kDivided : kPlain, !inverse);
}

Results fourier(const Call& call) {
  const Tensor x = as_complex(call, call.tensor(0));
  const std::int64_t given = call.version() >= 20 ? (call.has(2) ? call.integer(2) : -2) : call.attribute("axis", 1);
  const std::int64_t axis = call.axis(given, call.tensor(0).dim());
  call.check(axis < x.dim(), "axis {} is that of the parts of numbers", axis);
  const bool inverse = call.attribute("inverse", 0) != 0;
  const bool half = call.attribute("onesided", 0) != 0;
  const std::int64_t length = call.has(1) ? call.integer(1) : x.size(axis);
  call.check(length > 0, "the length is {}", length);
  if (inverse && half) call.refuse("inverse transforms of one side are not there");
  Tensor y = transformed(with_length(x, axis, length), axis, inverse);
  if (half) y = slice(y, axis, 0, y.size(axis) / 2 + 1, 1);
  return {view_as_real(y)};
}

Results short_fourier(const Call& call) {
  const Tensor x = call.tensor(0).dim() == 2 ? unsqueeze(call.tensor(0), -1) : call.tensor(0);
  const std::int64_t step = call.integer(1);
  const std::int64_t length = call.has(3) ? call.integer(3) : call.tensor(2).size(0);
  call.check(step > 0 && length > 0 && length <= x.size(1), "frames of {} elements, {} apart, of {}", length, step,
             x.size(1));
  const Tensor signal = as_complex(call, x);
  Tensor frames = signal.unfold(1, length, step);
  if (call.has(2)) frames = mul(frames, call.tensor(2));
  Tensor y = transformed(frames, frames.dim() - 1, false);
  if (call.attribute("onesided", 1) != 0) y = slice(y, -1, 0, length / 2 + 1, 1);
  return {view_as_real(y)};
}

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); }

// Triangles over bins of frequencies, evenly apart on the mel scale.
Results mel_weights(const Call& call) {
  const std::int64_t bands = call.integer(0);
  const std::int64_t length = call.integer(1);
  const double rate = static_cast<double>(call.integer(2));
  const double low = mel_of(call.number(3));
  const double high = mel_of(call.number(4));
  call.check(bands > 0 && length > 0 && bands < 1'000'000 && length < 1'000'000, "{} bands of {} elements", bands,
             length);
  const std::int64_t bins = length / 2 + 1;
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double mel = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
    edges.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz_of(mel) / rate)));
  }
  std::vector<double> weights(static_cast<std::size_t>(bins * bands), 0);
  const auto set = [&](std::int64_t bin, std::int64_t band, double weight) {
    if (bin >= 0 && bin < bins) weights[static_cast<std::size_t>(bin * bands + band)] = weight;
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const std::int64_t from = edges[static_cast<std::size_t>(band)];
    const std::int64_t peak = edges[static_cast<std::size_t>(band + 1)];
    const std::int64_t to = edges[static_cast<std::size_t>(band + 2)];
    if (peak == from) set(peak, band, 1);
    for (std::int64_t bin = std::max<std::int64_t>(from, 0); peak != from && bin <= std::min(peak, bins); ++bin) {
      set(bin, band, static_cast<double>(bin - from) / static_cast<double>(peak - from));
    }
    for (std::int64_t bin = std::max<std::int64_t>(peak, 0); peak != to && bin < std::min(to, bins); ++bin) {
      set(bin, band, static_cast<double>(to - bin) / static_cast<double>(to - peak));
    }
  }
  return {
      reshape(known_numbers(weights), {bins, bands}).to(dtype_of_element_type(call.attribute("output_datatype", 1)))};
}

constexpr Operator kSignals[] = {
    {"BlackmanWindow", 17, blackman, 1, "output_datatype periodic"},
    {"DFT", 17, fourier, 2, "axis inverse onesided"},
    {"DFT", 20, fourier, 3, "inverse onesided"},
    {"HammingWindow", 17, hamming, 1, "output_datatype periodic"},
    {"HannWindow", 17, hann, 1, "output_datatype periodic"},
    {"MelWeightMatrix", 17, mel_weights, 5, "output_datatype"},
    {"STFT", 17, short_fourier, 4, "onesided"},
};

}  // namespace

Family signal_family() { return kSignals; }

}  // namespace keyway::inline v1::onnx
