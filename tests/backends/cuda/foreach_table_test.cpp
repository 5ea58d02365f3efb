// Tables of launches over lists of tensors: every element has one thread, whatever the sizes.
#include <keyway/backends/cuda/foreach_table.h>
#include <keyway/tests/catch.h>

#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

void never_copied(const TensorBase&, const TensorBase&) { CHECK(false); }

}  // namespace

TEST_CASE("blocks of all tables cover each tensor once, and tensors without elements have none") {
  std::vector<TensorBase> tensors;
  for (int i = 0; i < 150; ++i) {
    const std::int64_t sizes[] = {0, 1, kForeachChunk - 1, kForeachChunk, kForeachChunk + 1, 7 * kForeachChunk + 5};
    tensors.push_back(make_tensor({sizes[i % 6]}, ScalarType::Float, DeviceType::CPU));
  }
  const TensorBase step = make_tensor({}, ScalarType::Float, DeviceType::CPU);
  const std::vector<TensorBase> steps(tensors.size(), step);
  const ForeachLists lists({{tensors}, {tensors, false}, {{}}}, never_copied);
  std::size_t next = 0;
  int tables = 0;
  for_each_table(lists, 3, steps, [&](const ForeachTable& table) {
    ++tables;
    CHECK(table.written == 1);
    std::vector<std::uint32_t> blocks(table.tensors);
    for (std::uint32_t block = 0; block < table.blocks(); ++block) ++blocks[table.tensor_of(block)];
    for (std::uint32_t t = 0; t < table.tensors; ++t) {
      while (tensors[next].numel() == 0) ++next;
      CHECK(table.data[0][t] == tensors[next].data_ptr());
      CHECK(table.data[1][t] == table.data[0][t]);
      CHECK(table.data[2][t] == nullptr);
      CHECK(table.step[t] == step.data_ptr());
      CHECK(table.numel[t] == tensors[next].numel());
      CHECK(std::int64_t{blocks[t]} * kForeachChunk >= table.numel[t]);
      CHECK(std::int64_t{blocks[t] - 1} * kForeachChunk < table.numel[t]);
      ++next;
    }
  });
  CHECK(next == tensors.size());
  CHECK(tables == 2);  // of 125 tensors that have elements
}

TEST_CASE("what one index writes and another one has is in two tables, in order") {
  const TensorBase flat = make_tensor({100}, ScalarType::Float, DeviceType::CPU);
  const auto part = [&](std::int64_t begin, std::int64_t end) { return make_view(flat, {end - begin}, {1}, begin); };
  const TensorBase other = make_tensor({10}, ScalarType::Float, DeviceType::CPU);
  const auto sizes_of_tables = [](const std::vector<TensorBase>& written, const std::vector<TensorBase>& read) {
    const ForeachLists lists({{written}, {read, false}}, never_copied);
    std::vector<std::uint32_t> sizes;
    for_each_table(lists, 2, {}, [&](const ForeachTable& table) { sizes.push_back(table.tensors); });
    return sizes;
  };
  using Sizes = std::vector<std::uint32_t>;
  const TensorBase a = part(0, 10), b = part(10, 20), c = part(20, 30);
  CHECK(sizes_of_tables({a, b, c}, {}) == Sizes{3});
  CHECK(sizes_of_tables({a, a}, {}) == Sizes{1, 1});
  CHECK(sizes_of_tables({a, b, a, c, b}, {}) == Sizes{2, 3});
  CHECK(sizes_of_tables({a, part(9, 19), c}, {}) == Sizes{1, 2});  // they share an element
  // Everybody may read the same, and each what it writes itself.
  CHECK(sizes_of_tables({a, b, c}, {other, other, other}) == Sizes{3});
  CHECK(sizes_of_tables({a, b}, {a, b}) == Sizes{2});
  // But not what another one writes, before or after.
  CHECK(sizes_of_tables({a, b}, {b, other}) == Sizes{1, 1});
  CHECK(sizes_of_tables({a, b}, {other, a}) == Sizes{1, 1});
}
