#include <keyway/backends/cpu/indexed_rows.h>

namespace keyway::inline v1 {

IndexedRows::IndexedRows(const TensorBase& table, IntArrayRef block_of_table, const TensorBase& rows,
                         IntArrayRef block_of_rows, IntArrayRef row_dims) {
  const auto bytes = [](const TensorBase& tensor, std::int64_t dim) {
    return tensor.strides()[static_cast<std::size_t>(dim)] * static_cast<std::int64_t>(tensor.itemsize());
  };
  if (rows.numel() == 0) {  // else the product of some of its sizes is within bounds
    rows_ = 0;
    return;
  }
  for (const std::int64_t d : row_dims) {
    const std::int64_t size = rows.sizes()[static_cast<std::size_t>(d)];
    rows_ *= size;
    if (size == 1) continue;
    const std::int64_t stride = bytes(rows, d);
    if (!row_sizes_.empty() && row_strides_.back() == size * stride) {  // one run with the dimension before
      row_sizes_.back() *= size;
      row_strides_.back() = stride;
      continue;
    }
    row_sizes_.push_back(size);
    row_strides_.push_back(stride);
  }
  block_.operands = 2;
  block_.data[0] = static_cast<char*>(table.data_ptr());
  block_.data[1] = static_cast<char*>(rows.data_ptr());
  for (std::size_t i = block_of_rows.size(); i-- > 0;) {
    const std::int64_t size = rows.sizes()[static_cast<std::size_t>(block_of_rows[i])];
    block_numel_ *= size;
    if (size == 1) continue;
    const int d = block_.rank++;
    block_.sizes[d] = size;
    block_.strides[0][d] = bytes(table, block_of_table[i]);
    block_.strides[1][d] = bytes(rows, block_of_rows[i]);
  }
  if (empty()) return;
  simplify(block_);
  for (int d = 0; d < block_.rank; ++d) {
    if (widest_ < 0 || block_.sizes[d] > block_.sizes[widest_]) widest_ = d;
  }
  constexpr std::int64_t kMany = 8, kCacheLine = 64;
  if (row_strides_.size() != 1 || rows_ < kMany) return;
  const bool is_one_element = row_strides_[0] == 0 && block_.stride(1, 0) == 0;  // the table decides then
  is_across_ = is_one_element ? block_.stride(0, 0) > kCacheLine : row_strides_[0] < block_.stride(1, 0);
}

}  // namespace keyway::inline v1
