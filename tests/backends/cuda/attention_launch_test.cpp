// What kernels of attention are told, computed on the host: which calls they take, how rows lie, and that every row is
// some block's.
#include <keyway/backends/cuda/attention_launch.h>
#include <keyway/tests/catch.h>

#include <set>
#include <tuple>

using namespace keyway;
using namespace keyway::cuda;

namespace {

TensorBase heads_of(IntArrayRef sizes, ScalarType dtype = kHalf) { return make_tensor(sizes, dtype, kCPU); }

AttentionLaunch launch_of(const TensorBase& query, const TensorBase& key, bool is_causal) {
  return {query, key, key, TensorBase(), is_causal, 1.0};
}

}  // namespace

TEST_CASE("attention by tensor cores takes 16-bit floats of at most 128 columns, and nothing that is empty") {
  const TensorBase some = heads_of({1, 2, 3, 128}), wide = heads_of({1, 2, 3, 129}), none = heads_of({1, 2, 0, 128});
  CHECK(takes_attention(some, some, some));
  CHECK_FALSE(takes_attention(some, some, wide));
  CHECK_FALSE(takes_attention(wide, wide, some));
  CHECK_FALSE(takes_attention(some, none, none));
  CHECK_FALSE(takes_attention(none, some, some));
  CHECK(takes_attention(heads_of({1, 1, 1, 1}, kBFloat16), heads_of({1, 1, 1, 1}, kBFloat16),
                        heads_of({1, 1, 1, 1}, kBFloat16)));
  const TensorBase single = heads_of({1, 1, 1, 1}, kFloat);
  CHECK_FALSE(takes_attention(single, single, single));
}

TEST_CASE("attention by tensor cores leaves calls to others that have more blocks, or rows, than a launch may have") {
  const TensorBase one = heads_of({1, 1, 1, 8});
  const std::int64_t many = std::int64_t{1} << 31;
  const TensorBase rows = make_view(one, {1, 1, many, 8}, {0, 0, 0, 1}, 0);
  CHECK_FALSE(takes_attention(rows, one, one));
  CHECK_FALSE(takes_attention(one, rows, rows));
  const TensorBase examples = make_view(one, {many, 1, 1, 8}, {0, 0, 0, 1}, 0);
  CHECK_FALSE(takes_attention(examples, examples, examples));
  const TensorBase heads = make_view(one, {many / 256, 128, 65, 8}, {0, 0, 0, 1}, 0);
  CHECK_FALSE(takes_attention(heads, heads, heads));
  const TensorBase fewer = make_view(one, {many / 256, 64, 65, 8}, {0, 0, 0, 1}, 0);
  CHECK(takes_attention(fewer, fewer, fewer));
}

TEST_CASE("rows of attention are read in pieces of 16 bytes where all of them are such") {
  const auto in_pieces = [](const TensorBase& tensor) { return attention_heads(tensor).has_pieces; };
  const TensorBase whole = heads_of({2, 3, 5, 16});
  CHECK(in_pieces(whole));
  CHECK(in_pieces(make_view(whole, {2, 5, 3, 16}, {240, 16, 80, 1}, 0)));
  CHECK_FALSE(in_pieces(heads_of({2, 3, 5, 12})));                               // no multiple
  CHECK_FALSE(in_pieces(make_view(whole, {2, 3, 4, 16}, {240, 80, 16, 1}, 1)));  // begin elsewhere
  CHECK_FALSE(in_pieces(make_view(whole, {2, 3, 4, 8}, {240, 80, 12, 1}, 0)));   // apart by no multiple
  CHECK_FALSE(in_pieces(make_view(whole, {2, 2, 2, 8}, {100, 80, 16, 1}, 0)));   // examples are
  CHECK(in_pieces(make_view(whole, {1, 2, 2, 8}, {101, 80, 16, 1}, 8)));         // one example
  CHECK(has_dense_rows(make_view(whole, {2, 3, 5, 1}, {240, 80, 16, 7}, 0)));
  CHECK_FALSE(has_dense_rows(make_view(whole, {2, 3, 2, 5}, {240, 80, 1, 16}, 0)));
}

TEST_CASE("masks of attention are broadcast where they have one row, head or example") {
  const AttentionMask none{TensorBase()};
  CHECK(none.kind == AttentionMask::Kind::None);
  const AttentionMask bools(heads_of({1, 3, 1, 16}, kBool));
  CHECK(bools.kind == AttentionMask::Kind::Bools);
  CHECK(std::tuple(bools.strides[0], bools.strides[1], bools.strides[2], bools.strides[3]) == std::tuple(0, 16, 0, 1));
  CHECK(AttentionMask(heads_of({2, 1, 4, 1})).kind == AttentionMask::Kind::Numbers);
  CHECK(AttentionMask(heads_of({2, 1, 4, 1})).strides[3] == 0);
}

TEST_CASE("every query and every key of attention is one block's, and a block's causal range covers what it sees") {
  for (const auto& [queries, keys] : {std::pair(1, 1), std::pair(64, 65), std::pair(65, 64), std::pair(200, 130)}) {
    for (const bool is_causal : {false, true}) {
      const AttentionLaunch launch = launch_of(heads_of({2, 6, queries, 8}), heads_of({2, 3, keys, 8}), is_causal);
      CHECK(launch.shared_by == 2);
      std::set<std::tuple<std::int64_t, int, int>> of_queries, of_keys;
      for (unsigned block = 0; block < launch.blocks_of_queries(); ++block) {
        const AttentionLaunch::Part part = launch.queries_of(block);
        of_queries.insert({part.example, part.head, part.first});
        const int last = std::min(part.first + kAttentionRows, queries) - 1;
        CHECK(launch.keys_seen(part.first) >= (is_causal ? std::min(last + 1, keys) : keys));
        CHECK(launch.keys_seen(part.first) <= keys);
        CHECK(part.first % kAttentionRows == 0);
        CHECK((part.first >= 0 && part.first < queries && part.head < 6 && part.example < 2));
      }
      for (unsigned block = 0; block < launch.blocks_of_keys(); ++block) {
        const AttentionLaunch::Part part = launch.keys_of(block);
        of_keys.insert({part.example, part.head, part.first});
        CHECK(launch.first_query(part.first) == (is_causal ? part.first : 0));
        CHECK((part.first < keys && part.head < 3));
      }
      CHECK(of_queries.size() == 12u * static_cast<unsigned>((queries + 63) / 64));
      CHECK(of_queries.size() == launch.blocks_of_queries());
      CHECK(of_keys.size() == 6u * static_cast<unsigned>((keys + 63) / 64));
      CHECK(of_keys.size() == launch.blocks_of_keys());
    }
  }
}
