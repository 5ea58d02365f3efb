#include <keyway/backends/cpu/indexed_sums.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/opmath.h>

#include <concepts>

namespace keyway::inline v1 {

namespace {

// What is done to n elements of To with n of From, which lie side by side.
template <SimdLevel level, typename Step>
struct StepBody {
  using To = typename Step::To;
  using From = typename Step::From;
  KEYWAY_INLINE static void run(const void* context, char* const* data, std::int64_t n) {
    const Step step = *static_cast<const Step*>(context);
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      detail::store<To>(data[0], i, step(detail::load<To>(data[0], i), detail::load<From>(data[1], i)));
    }
  }
};

// Of n elements wherever they lie.
template <typename Step>
void run_step(detail::Loop loop, const Step& step, char* to, char* from, std::int64_t n, std::int64_t to_step,
              std::int64_t from_step) {
  using To = typename Step::To;
  using From = typename Step::From;
  if (to_step == sizeof(To) && from_step == sizeof(From)) {
    char* const data[] = {to, from};
    return loop(&step, data, n);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    detail::store<To>(to + i * to_step, 0,
                      step(detail::load<To>(to + i * to_step, 0), detail::load<From>(from + i * from_step, 0)));
  }
}

template <typename T>
struct AddElement {
  using To = Opmath<T>;
  using From = T;
  Add<To> add;
  KEYWAY_INLINE To operator()(To sum, T x) const { return add(sum, opmath(x)); }
};
template <typename T, typename X>
struct ConvertElement {
  using To = T;
  using From = X;
  KEYWAY_INLINE T operator()(T, X x) const { return static_cast<T>(x); }
};

// For each element of a table of 16-bit floats the sum that it becomes, uninitialised.
template <typename T>
class WideSums {
 public:
  using Acc = Opmath<T>;
  explicit WideSums(const TensorBase& table)
      : table_(static_cast<const char*>(table.data_ptr())), sums_(span_of(table)) {}

  char* at(const char* element) const {
    return reinterpret_cast<char*>(sums_.data() + (element - table_) / static_cast<std::int64_t>(sizeof(T)));
  }
  static constexpr std::int64_t step(std::int64_t table_step) {
    return table_step * static_cast<std::int64_t>(sizeof(Acc) / sizeof(T));
  }

 private:
  // From the first element to the end of the last.
  static std::int64_t span_of(const TensorBase& tensor) {
    std::int64_t span = 1;
    for (std::size_t d = 0; d < tensor.sizes().size(); ++d) span += (tensor.sizes()[d] - 1) * tensor.strides()[d];
    return span;
  }

  const char* table_;
  ScratchArray<Acc> sums_;
};

struct StepOperands {
  char* to;
  char* from;
  std::int64_t to_step, from_step;
};

// Takes the step for all rows, with what operands_of(table, row, table_step, row_step) says of each run of them.
template <typename Step, typename F>
void each_step(const IndexedRows& rows, const std::int64_t* offsets, const Step& step, const F& operands_of) {
  const detail::Loop loop = detail::kLoopsOf<StepBody, Step>[current_level()];
  rows.each_part(offsets, [&step, loop, operands_of](char* table, char* row, std::int64_t n, std::int64_t table_step,
                                                     std::int64_t row_step) {
    const StepOperands run = operands_of(table, row, table_step, row_step);
    run_step(loop, step, run.to, run.from, n, run.to_step, run.from_step);
  });
}

template <typename T>
void add_rows_of(const TensorBase& table, const IndexedRows& rows, const std::int64_t* offsets, Opmath<T> alpha) {
  using Acc = Opmath<T>;
  const AddElement<T> add{{alpha}};
  if constexpr (std::same_as<T, Acc>) {
    each_step(rows, offsets, add, [](char* to, char* row, std::int64_t to_step, std::int64_t row_step) {
      return StepOperands{to, row, to_step, row_step};
    });
  } else {
    const WideSums<T> sums(table);
    using Sums = WideSums<T>;
    each_step(rows, offsets, ConvertElement<Acc, T>(), [&sums](char* element, char*, std::int64_t step, std::int64_t) {
      return StepOperands{sums.at(element), element, Sums::step(step), step};
    });
    each_step(rows, offsets, add, [&sums](char* element, char* row, std::int64_t step, std::int64_t row_step) {
      return StepOperands{sums.at(element), row, Sums::step(step), row_step};
    });
    each_step(rows, offsets, ConvertElement<T, Acc>(), [&sums](char* element, char*, std::int64_t step, std::int64_t) {
      return StepOperands{element, sums.at(element), step, Sums::step(step)};
    });
  }
}

}  // namespace

void add_rows(const TensorBase& table, const IndexedRows& rows, const ScratchArray<std::int64_t>& offsets,
              const Scalar& alpha) {
  if (rows.empty()) return;
  visit_any(table.dtype(), "sums of indexed rows",
            [&]<typename T>() { add_rows_of<T>(table, rows, offsets.data(), alpha.to<Opmath<T>>()); });
}

}  // namespace keyway::inline v1
