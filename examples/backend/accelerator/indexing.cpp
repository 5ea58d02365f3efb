// Operators that read or write elements by their index. The host does not know what is in a tensor of indices: one out
// of range is an error of the command, which the next synchronisation throws.
#include <keyway/core/base/error.h>
#include <keyway/ops/functors/copy.h>

#include <accelerator/kernels.h>

namespace accelerator {

using namespace keyway;

namespace {

std::int64_t checked(const char* argument, std::int64_t index, std::int64_t position, std::int64_t size) {
  KEYWAY_CHECK_AS(Index, 0 <= index && index < size, "argument '{}' has {} at position {}, but must be in [0, {})",
                  argument, index, position, size);
  return index;
}

// One without dimensions is as one with a dimension of size 1.
TensorBase with_dim(const TensorBase& tensor) {
  return tensor.dim() > 0 ? tensor : make_view(tensor, {1}, {1}, tensor.storage_offset());
}

// A list as a tensor of that rank, along one dimension.
TensorBase along(const TensorBase& list, std::int64_t dim, std::int64_t rank) {
  DimVector sizes(static_cast<std::size_t>(rank), 1), strides(static_cast<std::size_t>(rank), 0);
  sizes[static_cast<std::size_t>(dim)] = list.numel();
  strides[static_cast<std::size_t>(dim)] = list.dim() == 0 ? 0 : list.strides()[0];
  return make_view(list, sizes, strides, list.storage_offset());
}

// out[i] = self[index[i]] in each line.
void take(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& out) {
  visit<kAll>(self.dtype(), [&]<typename T>() {
    visit<kIntegers>(index.dtype(), [&]<typename I>() {
      const auto body = [](Elements<T> result, Elements<const T> from, Elements<const I> indices) {
        for (std::int64_t i = 0; i < result.size(); ++i) {
          result[i] = from[checked("index", indices[i], i, from.size())];
        }
      };
      each_line<T, const T, const I>({dim}, body, out, self, index);
    });
  });
}

void index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index, TensorBase& out) {
  const TensorBase result = with_dim(out);
  take(with_dim(self), dim, along(index, dim, result.dim()), result);
}

void gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool, TensorBase& out) {
  take(with_dim(self), dim, with_dim(index), with_dim(out));
}

void scatter_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  visit<kFloats>(self.dtype(), [&]<typename T>() {
    using Acc = Opmath<T>;
    visit<kIntegers>(index.dtype(), [&]<typename I>() {
      // Sums are rounded once.
      const TensorBase sums = make_tensor(with_dim(out).sizes(), cpp_type_to_scalar_type<Acc>, out.device());
      const auto body = [](Elements<const I> indices, Elements<Acc> to, Elements<const T> from) {
        for (std::int64_t i = 0; i < indices.size(); ++i) {
          to[checked("index", indices[i], i, to.size())] += opmath(from[i]);
        }
      };
      pointwise(Cast<Acc, T>{}, sums, with_dim(self));
      if (index.numel() > 0) each_line<const I, Acc, const T>({dim}, body, with_dim(index), sums, with_dim(src));
      pointwise(Cast<T, Acc>{}, with_dim(out), sums);
    });
  });
}

void embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t, bool, bool, TensorBase& out) {
  visit<kFloats>(weight.dtype(), [&]<typename T>() {
    visit<kIntegers>(indices.dtype(), [&]<typename I>() {
      const auto body = [rows = weight.sizes()[0], width = weight.sizes()[1]](
                            Elements<T> result, Elements<const T> table, Elements<const I> list) {
        for (std::int64_t i = 0; i < list.size(); ++i) {
          const std::int64_t row = checked("indices", list[i], i, rows);
          for (std::int64_t k = 0; k < width; ++k) result[i * width + k] = table[row * width + k];
        }
      };
      whole<T, const T, const I>(body, out, weight, indices);
    });
  });
}

void embedding_backward(const TensorBase& grad, const TensorBase& indices, std::int64_t rows, std::int64_t padding,
                        bool by_frequency, TensorBase& out) {
  accept_if(!by_frequency, "the accelerator does not count indices");
  visit<kFloats>(grad.dtype(), [&]<typename T>() {
    visit<kIntegers>(indices.dtype(), [&]<typename I>() {
      const auto body = [rows, padding, width = out.sizes()[1]](Elements<T> result, Elements<const T> g,
                                                                Elements<const I> list) {
        std::vector<Opmath<T>> sums(static_cast<std::size_t>(rows * width));
        for (std::int64_t i = 0; i < list.size(); ++i) {
          const std::int64_t row = checked("indices", list[i], i, rows);
          if (row == padding) continue;
          for (std::int64_t k = 0; k < width; ++k) {
            sums[static_cast<std::size_t>(row * width + k)] += opmath(g[i * width + k]);
          }
        }
        for (std::int64_t i = 0; i < result.size(); ++i) result[i] = static_cast<T>(sums[static_cast<std::size_t>(i)]);
      };
      whole<T, const T, const I>(body, out, grad, indices);
    });
  });
}

void tril(const TensorBase& self, std::int64_t diagonal, TensorBase& out) {
  visit<kAll>(self.dtype(), [&]<typename T>() {
    const std::int64_t rank = self.dim(), height = self.sizes()[static_cast<std::size_t>(rank - 2)],
                       width = self.sizes().back();
    // Bounded, so that a row and a diagonal can be added up.
    const auto body = [width, last = std::clamp(diagonal, -height, width)](Elements<T> result, Elements<const T> x) {
      for (std::int64_t i = 0; i < x.size(); ++i) result[i] = i % width <= i / width + last ? x[i] : T();
    };
    each_line<T, const T>({rank - 2, rank - 1}, body, out, self);
  });
}

void arange(const Scalar& start, const Scalar&, const Scalar& step, TensorBase& out) {
  visit<kNumbers>(out.dtype(), [&]<typename T>() {
    using Number = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
    const auto body = [first = start.to<Number>(), by = step.to<Number>()](Elements<T> result) {
      for (std::int64_t i = 0; i < result.size(); ++i) {
        result[i] = static_cast<T>(plus(first, times(static_cast<Number>(i), by)));
      }
    };
    whole<T>(body, out);
  });
}

}  // namespace

void register_indexing(Library& m) {
  serve(m, "index_select", index_select);
  serve(m, "gather", gather);
  serve(m, "scatter_add", scatter_add);
  serve(m, "embedding", embedding);
  serve(m, "embedding_dense_backward", embedding_backward);
  serve(m, "tril", tril);
  serve(m, "arange.start_step", arange);
}

}  // namespace accelerator
