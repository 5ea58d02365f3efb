// Products of matrices: mm, addmm, bmm.
#include <accelerator/kernels.h>

namespace accelerator {

using namespace keyway;

namespace {

// The chip adds up in float64: products of float32 are exact, and no sum of them overflows on its way.
template <typename T>
std::vector<double> widened(const Elements<const T>& elements) {
  std::vector<double> wide;
  wide.reserve(static_cast<std::size_t>(elements.size()));
  for (std::int64_t i = 0; i < elements.size(); ++i) wide.push_back(opmath(elements[i]));
  return wide;
}

// out = alpha a b + beta c for each pair of matrices; an undefined c is none.
void multiply(const TensorBase& a, const TensorBase& b, const TensorBase& c, double alpha, double beta,
              const TensorBase& out) {
  visit<kFloats>(out.dtype(), [&]<typename T>() {
    const std::int64_t rank = out.dim(), depth = a.sizes().back(), columns = out.sizes().back();
    const auto body = [=](Elements<T> result, Elements<const T> left, Elements<const T> right,
                          Elements<const T> added) {
      const std::vector<double> x = widened(left), y = widened(right);
      std::vector<double> row(static_cast<std::size_t>(columns));
      for (std::int64_t i = 0; i * columns < result.size(); ++i) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::int64_t k = 0; k < depth; ++k) {
          const double factor = x[static_cast<std::size_t>(i * depth + k)];
          const double* const from = y.data() + k * columns;
          for (std::int64_t j = 0; j < columns; ++j) row[static_cast<std::size_t>(j)] += factor * from[j];
        }
        for (std::int64_t j = 0; j < columns; ++j) {
          double element = alpha * row[static_cast<std::size_t>(j)];
          if (added.size() > 0) element += beta * opmath(added[i * columns + j]);
          result[i * columns + j] = static_cast<T>(static_cast<Opmath<T>>(element));
        }
      }
    };
    each_line<T, const T, const T, const T>({rank - 2, rank - 1}, body, out, a, b, c);
  });
}

void mm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) { multiply(self, mat2, {}, 1, 0, out); }

void addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta,
           const Scalar& alpha, TensorBase& out) {
  accept_if(kFloats.contains(out.dtype()), "the accelerator multiplies floats");
  const double factor = beta.to<double>();
  const TensorBase added = factor == 0 ? TensorBase() : expanded_to(self, out.sizes());  // NaN times 0 is no NaN here
  multiply(mat1, mat2, added, alpha.to<double>(), factor, out);
}

}  // namespace

void register_products(Library& m) {
  serve(m, "mm", mm);
  serve(m, "bmm", mm);
  serve(m, "addmm", addmm);
}

}  // namespace accelerator
