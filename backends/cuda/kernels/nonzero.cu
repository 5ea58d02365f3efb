// nonzero. The elements that are not zero are counted, and their count waited for, as it is a size of the result; then
// each is given its row by a scan (scan.cuh) over the elements as bools. They are read twice as such, which with the
// writing of the result bounds it.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/kernels_copy.h>
#include <keyway/backends/cuda/kernels/kernels_indexing.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/scan.cuh>
#include <keyway/core/dtype/scalar.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

struct Count {
  using Acc = std::int64_t;

  KEYWAY_HD Acc identity() const { return 0; }
  KEYWAY_HD Acc operator()(Acc a, Acc b) const { return a + b; }
};

// Operand: whether an element counts. The numbers of those that do come one after the other.
struct Counted : Count {
  using Merge = Count;
  static constexpr int kOperands = 1;
  std::int64_t* numbers;

  __device__ Acc term(const Row<2>& row, std::int64_t i) const { return counts(row, i) ? 1 : 0; }
  __device__ void write(const Row<2>& row, std::int64_t i, Acc count) const {
    if (counts(row, i)) numbers[count - 1] = i;
  }

 private:
  __device__ static bool counts(const Row<2>& row, std::int64_t i) { return row.at<const std::uint8_t>(0, i) != 0; }
};

// Operands: an element's index along a dimension; its number.
struct IndexAlong {
  std::int64_t size, apart;  // how many numbers an element is from the next along the dimension

  KEYWAY_HD void operator()(const Element<2>& element) const {
    element.at<std::int64_t>(0) = element.at<const std::int64_t>(1) / apart % size;
  }
};

// The indices of the elements with these numbers, one in each row.
void write_indices(const TensorBase& numbers, IntArrayRef sizes, const TensorBase& indices) {
  std::int64_t apart = 1;
  for (std::size_t d = sizes.size(); d-- > 0; apart *= sizes[d]) {
    const TensorBase along = make_view(indices, numbers.sizes(), {indices.strides()[0]},
                                       indices.storage_offset() + static_cast<std::int64_t>(d) * indices.strides()[1]);
    each<2>(ElementSpace(numbers.sizes()).tensor(along).tensor(numbers).space(), IndexAlong{sizes[d], apart},
            indices.device());
  }
}

}  // namespace

TensorBase nonzero(const TensorBase& self) {
  const std::int64_t n = self.numel(), rank = self.dim();
  const Device on = self.device();
  if (n == 0) return make_tensor({0, rank}, kLong, on);
  const TensorBase flags = contiguous_as(self, kBool), line = make_view(flags, {n}, {1}, flags.storage_offset());
  RowSpace row_space(line.sizes(), 0);
  row_space.tensor(line);
  const std::int64_t stretches = row_space.share();
  const TensorBase totals = room_for_totals<Counted>(line, 0, stretches);
  row_space.tensor(totals);
  find_totals(Counted{}, row_space, totals, 0);
  const auto count = _local_scalar_dense(make_view(totals, {}, {}, stretches - 1)).to<std::int64_t>();
  const TensorBase out = make_tensor_strided({count, rank}, {1, std::max<std::int64_t>(count, 1)}, kLong, on);
  if (out.numel() == 0) return out;
  const TensorBase numbers = rank == 1 ? make_view(out, {count}, {1}, 0) : make_tensor({count}, kLong, on);
  rows<2>(row_space, Scan<Counted>{{{}, numbers.data_ptr<std::int64_t>()}}, on);
  if (rank > 1) write_indices(numbers, self.sizes(), out);
  return out;
}

}  // namespace keyway::inline v1::cuda
