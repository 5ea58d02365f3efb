// Operators whose elements depend on all others of their row: softmax and layer_norm, and their gradients.
#include <accelerator/kernels.h>
#include <cmath>

namespace accelerator {

using namespace keyway;

namespace {

constexpr const char* kOneDtype = "the accelerator computes rows in one dtype";

// The greatest element, and the sum of exp(x - greatest).
template <typename T>
std::pair<Opmath<T>, Opmath<T>> normalizer(const Elements<const T>& x) {
  Opmath<T> greatest = -INFINITY, sum = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) greatest = std::max(greatest, opmath(x[i]));
  for (std::int64_t i = 0; i < x.size(); ++i) sum += std::exp(opmath(x[i]) - greatest);
  return {greatest, sum};
}

template <bool log>
void softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  accept_if(out.dtype() == self.dtype(), kOneDtype);
  visit<kFloats>(self.dtype(), [&]<typename T>() {
    const auto body = [](Elements<T> y, Elements<const T> x) {
      const auto [greatest, sum] = normalizer(x);
      const auto log_of_sum = std::log(sum);
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const auto apart = opmath(x[i]) - greatest;
        y[i] = static_cast<T>(log ? apart - log_of_sum : std::exp(apart) / sum);
      }
    };
    each_line<T, const T>({dim}, body, out, self);
  });
}

// With y the result and g its gradient: y (g - sum(g y)); of the logarithm g - exp(y) sum(g).
template <bool log>
void softmax_backward(const TensorBase& grad, const TensorBase& output, std::int64_t dim, ScalarType, TensorBase& out) {
  accept_if(out.dtype() == output.dtype(), kOneDtype);
  visit<kFloats>(output.dtype(), [&]<typename T>() {
    const auto body = [](Elements<T> result, Elements<const T> g, Elements<const T> y) {
      Opmath<T> sum = 0;
      for (std::int64_t i = 0; i < y.size(); ++i) sum += opmath(g[i]) * (log ? 1 : opmath(y[i]));
      for (std::int64_t i = 0; i < y.size(); ++i) {
        const auto wide = opmath(y[i]);
        result[i] = static_cast<T>(log ? opmath(g[i]) - std::exp(wide) * sum : wide * (opmath(g[i]) - sum));
      }
    };
    each_line<T, const T, const T>({dim}, body, out, grad, output);
  });
}

void layer_norm(const TensorBase& input, IntArrayRef shape, const TensorBase& weight, const TensorBase& bias,
                double eps, TensorBase& out, TensorBase& means, TensorBase& rstds) {
  for (const TensorBase& factor : {weight, bias}) {
    accept_if(!factor.defined() || factor.dtype() == input.dtype(), kOneDtype);
  }
  visit<kFloats>(input.dtype(), [&]<typename T>() {
    using Acc = Opmath<T>;
    const std::int64_t width = checked_numel(shape);
    const auto body = [=](Elements<T> y, Elements<Acc> mean, Elements<Acc> rstd, Elements<const T> x,
                          Elements<const T> w, Elements<const T> b) {
      for (std::int64_t row = 0; row < mean.size(); ++row) {
        double apart = 0, squares = 0;
        const std::int64_t begin = row * width, end = begin + width;
        // From the first element on, so that rows of equal elements have no variance.
        const double origin = width > 0 && std::isfinite(opmath(x[begin])) ? opmath(x[begin]) : 0;
        for (std::int64_t i = begin; i < end; ++i) apart += opmath(x[i]) - origin;
        const double m = origin + apart / static_cast<double>(width);
        for (std::int64_t i = begin; i < end; ++i) squares += (opmath(x[i]) - m) * (opmath(x[i]) - m);
        const double r = 1 / std::sqrt(squares / static_cast<double>(width) + eps);
        for (std::int64_t i = begin; i < end; ++i) {
          const double normal = (opmath(x[i]) - m) * r * (w.size() == 0 ? 1 : opmath(w[i - begin]));
          y[i] = static_cast<T>(static_cast<Acc>(normal + (b.size() == 0 ? 0 : opmath(b[i - begin]))));
        }
        mean[row] = static_cast<Acc>(m);
        rstd[row] = static_cast<Acc>(r);
      }
    };
    whole<T, Acc, Acc, const T, const T, const T>(body, out, means, rstds, input, weight, bias);
  });
}

// With x' = (x - mean) rstd and g' = g weight: rstd (g' - mean(g') - x' mean(g' x')), and for weight and bias the sums
// of g x' and g over the rows. Results that are not asked for are undefined.
void layer_norm_backward(const TensorBase& grad, const TensorBase& input, IntArrayRef shape, const TensorBase& means,
                         const TensorBase& rstds, const TensorBase& weight, const TensorBase&, ArrayRef<bool>,
                         TensorBase& grad_input, TensorBase& grad_weight, TensorBase& grad_bias) {
  accept_if(!weight.defined() || weight.dtype() == input.dtype(), kOneDtype);
  visit<kFloats>(input.dtype(), [&]<typename T>() {
    using Acc = Opmath<T>;
    const std::int64_t width = checked_numel(shape);
    const auto body = [=](Elements<const T> g, Elements<const T> x, Elements<const Acc> mean, Elements<const Acc> rstd,
                          Elements<const T> w, Elements<T> of_input, Elements<T> of_weight, Elements<T> of_bias) {
      std::vector<double> weights(static_cast<std::size_t>(width)), biases(weights), weighed(weights), normal(weights);
      for (std::int64_t row = 0; row < mean.size(); ++row) {
        double level = 0, slope = 0;
        for (std::int64_t i = 0; i < width; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const double gradient = opmath(g[row * width + i]);
          normal[at] = (opmath(x[row * width + i]) - mean[row]) * rstd[row];
          weighed[at] = gradient * (w.size() == 0 ? 1 : opmath(w[i]));
          level += weighed[at] / static_cast<double>(width);
          slope += weighed[at] * normal[at] / static_cast<double>(width);
          weights[at] += gradient * normal[at];
          biases[at] += gradient;
        }
        for (std::int64_t i = 0; i < width && of_input.size() > 0; ++i) {
          const auto at = static_cast<std::size_t>(i);
          of_input[row * width + i] =
              static_cast<T>(static_cast<Acc>(rstd[row] * (weighed[at] - level - normal[at] * slope)));
        }
      }
      for (std::int64_t i = 0; i < of_weight.size(); ++i) {
        of_weight[i] = static_cast<T>(static_cast<Acc>(weights[static_cast<std::size_t>(i)]));
      }
      for (std::int64_t i = 0; i < of_bias.size(); ++i) {
        of_bias[i] = static_cast<T>(static_cast<Acc>(biases[static_cast<std::size_t>(i)]));
      }
    };
    whole<const T, const T, const Acc, const Acc, const T, T, T, T>(body, grad, input, means, rstds, weight, grad_input,
                                                                    grad_weight, grad_bias);
  });
}

}  // namespace

void register_rows(Library& m) {
  serve(m, "_softmax", softmax<false>);
  serve(m, "_log_softmax", softmax<true>);
  serve(m, "_softmax_backward_data", softmax_backward<false>);
  serve(m, "_log_softmax_backward_data", softmax_backward<true>);
  serve(m, "native_layer_norm", layer_norm);
  serve(m, "native_layer_norm_backward", layer_norm_backward);
}

}  // namespace accelerator
