// How attention whose scores are in memory is shared out, computed on the host: every query is in one block, and no
// block takes more memory than it may.
#include <keyway/backends/cuda/attention_blocks.h>
#include <keyway/core/base/error.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;
using keyway::testing::error_of;

namespace {

std::int64_t rows_of(const AttentionQueries& all) { return all.examples * all.served * all.shared_by * all.queries; }

// The rows of a block's examples, heads and queries, one by one.
std::vector<std::int64_t> rows_of_parts(const AttentionQueries& all, const AttentionBlock& block) {
  std::vector<std::int64_t> rows;
  for (std::int64_t e = 0; e < block.examples.count; ++e) {
    for (std::int64_t s = 0; s < block.served.count; ++s) {
      for (std::int64_t h = 0; h < block.heads.count; ++h) {
        for (std::int64_t q = 0; q < block.queries.count; ++q) {
          const std::int64_t matrix = (block.examples.first + e) * all.served + block.served.first + s;
          const std::int64_t head = matrix * all.shared_by + block.heads.first + h;
          rows.push_back(head * all.queries + block.queries.first + q);
        }
      }
    }
  }
  return rows;
}

// Checks a block whose rows are to begin at `next`; returns where those of the next one do.
std::int64_t check_block(const AttentionQueries& all, const AttentionBlock& block, std::int64_t next) {
  CHECK(block.first_row == next);
  std::vector<std::int64_t> expected(static_cast<std::size_t>(block.matrices * block.rows));
  for (std::int64_t& row : expected) row = next++;
  CHECK(rows_of_parts(all, block) == expected);
  const std::int64_t of_matrix = all.shared_by * all.queries;
  CHECK(block.first_matrix == block.first_row / of_matrix);
  CHECK(block.begins == (block.first_row % of_matrix == 0));
  CHECK(block.ends == (next % of_matrix == 0));
  if (block.matrices > 1) CHECK(block.rows == of_matrix);
  // A view of a mask has one step from an example to the next, and one from a head to the next.
  if (block.examples.count > 1) CHECK(block.served.count == all.served);
  if (block.heads.count > 1) CHECK(block.queries.count == all.queries);
  return next;
}

}  // namespace

TEST_CASE("every query of attention is in one block, in order, and a head of keys is whole in a block or alone there") {
  constexpr std::int64_t kRowBytes = 12;
  for (const AttentionQueries& all : {AttentionQueries{1, 1, 1, 1}, AttentionQueries{3, 2, 3, 5},
                                      AttentionQueries{2, 5, 1, 7}, AttentionQueries{7, 1, 2, 1}}) {
    for (std::int64_t room = 0; room <= rows_of(all) + 1; ++room) {
      INFO(all.examples << " x " << all.served << " x " << all.shared_by << " x " << all.queries << ", room for "
                        << room << " rows");
      const AttentionBlocks blocks(all, kRowBytes, room * kRowBytes + kRowBytes - 1);
      std::int64_t next = 0, most = 0;
      bool split = false;
      for (std::int64_t b = 0; b < blocks.count(); ++b) {
        const AttentionBlock block = blocks.block(b);
        next = check_block(all, block, next);
        most = std::max(most, block.matrices * block.rows);
        split = split || !block.begins || !block.ends;
      }
      CHECK(next == rows_of(all));
      CHECK(blocks.most_rows() == most);
      CHECK(most <= std::max<std::int64_t>(room, 1));
      CHECK(blocks.split_keys() == split);
      if (room >= rows_of(all)) CHECK(blocks.count() == 1);
    }
  }
}

TEST_CASE("attention shares out examples first, then heads of keys, heads that share one, and queries") {
  const AttentionQueries all{4, 3, 2, 10};
  const auto largest = [&](std::int64_t room) {
    const AttentionBlock block = AttentionBlocks(all, 8, 8 * room).block(0);
    return std::vector{block.examples.count, block.served.count, block.heads.count, block.queries.count};
  };
  CHECK(largest(240) == std::vector<std::int64_t>{4, 3, 2, 10});
  CHECK(largest(239) == std::vector<std::int64_t>{3, 3, 2, 10});
  CHECK(largest(59) == std::vector<std::int64_t>{1, 2, 2, 10});
  CHECK(largest(39) == std::vector<std::int64_t>{1, 1, 2, 10});
  CHECK(largest(19) == std::vector<std::int64_t>{1, 1, 1, 10});
  CHECK(largest(9) == std::vector<std::int64_t>{1, 1, 1, 9});
  const AttentionBlock last = AttentionBlocks(all, 8, 8 * 9).block(47);
  CHECK((last.queries.first == 9 && last.queries.count == 1 && !last.begins && last.ends));
}

TEST_CASE("scores of 32 heads of 16k queries, of 34 GB, take 256 MiB at a time, those of the gradient too") {
  CHECK(kAttentionBytes == 256 << 20);
  constexpr std::int64_t kSide = 1 << 14;
  for (const std::int64_t arrays : {1, 2}) {
    for (const std::int64_t itemsize : {4, 8}) {
      const std::int64_t row_bytes = arrays * itemsize * kSide;
      const AttentionBlocks blocks({1, 32, 1, kSide}, row_bytes, kAttentionBytes);
      CHECK(rows_of({1, 32, 1, kSide}) * row_bytes == (std::int64_t{34359738368} * arrays * itemsize) / 4);
      CHECK(blocks.most_rows() * row_bytes == kAttentionBytes);
      CHECK(blocks.count() == 32 * arrays * itemsize);
    }
  }
  // A row that is larger is a block.
  const AttentionBlocks rows({1, 2, 1, 3}, kAttentionBytes + 1, kAttentionBytes);
  CHECK((rows.most_rows() == 1 && rows.count() == 6));
}

TEST_CASE("attention without queries has one block, of no rows, so that gradients of keys are written") {
  for (const AttentionQueries& all :
       {AttentionQueries{2, 3, 0, 5}, AttentionQueries{2, 3, 2, 0}, AttentionQueries{0, 3, 2, 5}}) {
    for (const std::int64_t row_bytes : {0, 8}) {
      const AttentionBlocks blocks(all, row_bytes, 1000);
      CHECK((blocks.count() == 1 && blocks.most_rows() == 0 && !blocks.split_keys()));
      const AttentionBlock block = blocks.block(0);
      CHECK((block.matrices == all.examples * all.served && block.matrices * block.rows == 0));
      CHECK((block.begins && block.ends && block.first_row == 0));
    }
  }
}

TEST_CASE("the environment may say how many bytes of scores attention has in memory") {
  CHECK(attention_bytes_of(nullptr) == kAttentionBytes);
  CHECK(attention_bytes_of("") == kAttentionBytes);
  CHECK(attention_bytes_of("1") == 1);
  CHECK(attention_bytes_of("67108864") == 64 << 20);
  for (const char* const wrong : {"0", "-5", "64M", " 7", "99999999999999999999"}) {
    CHECK(error_of([&] { (void)attention_bytes_of(wrong); }) == "the variable KEYWAY_CUDA_ATTENTION_BYTES is '" +
                                                                    std::string(wrong) +
                                                                    "', but must be a number of bytes from 1");
  }
}
