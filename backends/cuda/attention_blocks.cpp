#include <keyway/backends/cuda/attention_blocks.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace keyway::inline v1::cuda {

std::int64_t attention_bytes_of(const char* text) {
  if (text == nullptr || *text == '\0') return kAttentionBytes;
  const std::string_view digits(text);
  const char* const end = digits.data() + digits.size();
  std::int64_t bytes = 0;
  const auto read = std::from_chars(digits.data(), end, bytes);
  KEYWAY_CHECK(read.ec == std::errc() && read.ptr == end && bytes > 0,
               "the variable KEYWAY_CUDA_ATTENTION_BYTES is '{}', but must be a number of bytes from 1", text);
  return bytes;
}

std::int64_t attention_bytes() {
  static const std::int64_t bytes = attention_bytes_of(std::getenv("KEYWAY_CUDA_ATTENTION_BYTES"));
  return bytes;
}

AttentionBlocks::AttentionBlocks(const AttentionQueries& all, std::int64_t row_bytes, std::int64_t bytes)
    : sizes_{all.examples, all.served, all.shared_by, all.queries} {
  // How many have room of what the sizes so far are.
  std::int64_t room = std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, row_bytes));
  for (std::size_t d = 4; d-- > 0;) {
    at_once_[d] = std::clamp<std::int64_t>(sizes_[d], 1, room);
    room /= at_once_[d];
  }
}

std::int64_t AttentionBlocks::across(std::size_t d) const {
  return std::max<std::int64_t>(1, (sizes_[d] - 1) / at_once_[d] + 1);
}

std::int64_t AttentionBlocks::count() const {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < 4; ++d) all *= across(d);
  return all;
}

AttentionBlock AttentionBlocks::block(std::int64_t number) const {
  AttentionBlock::Part parts[4];
  for (std::size_t d = 4; d-- > 0;) {
    parts[d].first = number % across(d) * at_once_[d];
    parts[d].count = std::min(at_once_[d], sizes_[d] - parts[d].first);
    number /= across(d);
  }
  AttentionBlock block{parts[0], parts[1], parts[2], parts[3]};
  block.first_matrix = block.examples.first * sizes_[1] + block.served.first;
  block.matrices = block.examples.count * block.served.count;
  block.first_row = (block.first_matrix * sizes_[2] + block.heads.first) * sizes_[3] + block.queries.first;
  block.rows = block.heads.count * block.queries.count;
  block.begins = block.heads.first == 0 && block.queries.first == 0;
  block.ends =
      block.heads.first + block.heads.count == sizes_[2] && block.queries.first + block.queries.count == sizes_[3];
  return block;
}

std::int64_t AttentionBlocks::most_rows() const {
  std::int64_t rows = 1;
  for (std::size_t d = 0; d < 4; ++d) rows *= std::min(at_once_[d], sizes_[d]);
  return rows;
}

}  // namespace keyway::inline v1::cuda
