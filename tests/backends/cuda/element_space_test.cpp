// What kernels that go from element to element are told, walked through on the host by the code that devices run. The
// oracle counts indices.
#include <keyway/backends/cuda/row_space.h>
#include <keyway/tests/catch.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

using Sizes = std::vector<std::int64_t>;

// So many dimensions, most of them short, whose neighbours are seldom one run.
Sizes random_sizes(std::mt19937& random, std::size_t rank) {
  Sizes sizes(rank);
  for (std::int64_t& size : sizes) size = 1 + static_cast<std::int64_t>(random() % 4);
  return sizes;
}

TensorBase spread(const Sizes& sizes, std::mt19937& random) {
  Sizes strides(sizes.size());
  std::int64_t next = 1 + static_cast<std::int64_t>(random() % 2);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = next;
    next = next * sizes[d] + static_cast<std::int64_t>(random() % 3);
  }
  return make_tensor_strided(sizes, strides, kFloat, kCPU);
}

const char* address(const TensorBase& tensor, const Sizes& index) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * tensor.strides()[d];
  return static_cast<const char*>(tensor.data_ptr()) + offset * static_cast<std::int64_t>(tensor.itemsize());
}

// Calls f(index, its number) for each index, in row-major order.
template <typename F>
void each_index(const Sizes& sizes, const F& f) {
  Sizes index(sizes.size(), 0);
  std::int64_t numel = 1;
  for (const std::int64_t size : sizes) numel *= size;
  for (std::int64_t i = 0; i < numel; ++i) {
    f(index, i);
    for (std::size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
  }
}

}  // namespace

TEST_CASE("a position has the element, the line that it looks something up in, and its numbers") {
  std::mt19937 random(7);
  using Found = std::tuple<const char*, std::int64_t, std::int64_t>;
  for (int round = 0; round < 200; ++round) {
    const Sizes sizes = random_sizes(random, 1 + random() % 9);
    const auto dim = static_cast<std::int64_t>(random() % sizes.size());
    Sizes longer = sizes;
    longer[static_cast<std::size_t>(dim)] = 5;
    const TensorBase out = spread(sizes, random), table = spread(longer, random);
    std::map<const char*, Found> expected, found;
    each_index(sizes, [&](Sizes index, std::int64_t number) {
      const char* const at = address(out, index);
      const std::int64_t along = std::exchange(index[static_cast<std::size_t>(dim)], 0);
      expected[at] = {address(table, index), along, number};
    });
    const IterationSpace space = ElementSpace(sizes).tensor(out).line(table, dim).coordinate(dim).number().space();
    for_each_part(space, [&](const IterationSpace& part) {
      const LaunchSpace launch = launch_space(part);
      for (std::uint32_t i = 0; i < launch.numel; ++i) {
        const Element<4> element(launch, space.data[0], i);
        found[element.address(0)] = {element.address(1), element.number(2), element.number(3)};
      }
    });
    REQUIRE(found == expected);
  }
}

TEST_CASE("a row has its elements, and one of another tensor for all of them, and its number") {
  std::mt19937 random(11);
  using Element = std::tuple<const char*, std::int64_t>;
  for (int round = 0; round < 200; ++round) {
    const Sizes sizes = random_sizes(random, 1 + random() % 9);
    const auto dim = random() % sizes.size();
    Sizes one = sizes;
    one[dim] = 1;
    const TensorBase out = spread(sizes, random), mean = spread(one, random);
    std::map<const char*, Element> expected, found;
    std::map<const char*, std::int64_t> numbers;
    each_index(one, [&](const Sizes& index, std::int64_t number) { numbers[address(mean, index)] = number; });
    each_index(sizes, [&](Sizes index, std::int64_t) {
      const char* const at = address(out, index);
      index[dim] = 0;
      const char* const of_row = address(mean, index);
      expected[at] = {of_row, numbers.at(of_row)};
    });
    RowSpace row_space(sizes, static_cast<std::int64_t>(dim));
    row_space.tensor(out).tensor(mean).number();
    row_space.each_part([&](const RowLaunch& launch) {
      REQUIRE(launch.n == sizes[dim]);
      REQUIRE(launch.step[1] == 0);
      for (std::uint32_t r = 0; r < launch.rows.numel; ++r) {
        std::int64_t offset[3];
        launch.rows.locate(r, offset);
        const std::int64_t number = launch.rows.data[2] - launch.origin + offset[2];
        for (std::int64_t i = 0; i < launch.n; ++i) {
          found[launch.rows.data[0] + offset[0] + i * launch.step[0]] = {launch.rows.data[1] + offset[1], number};
        }
      }
    });
    REQUIRE(found == expected);
  }
}

TEST_CASE("every thread of a block is in one team, and neighbours read neighbours") {
  for (const bool columns : {false, true}) {
    for (const std::uint64_t n : {0, 1, 2, 5, 31, 32, 100, 1000, 1 << 20}) {
      const Teams teams = teams_for(n, columns);
      REQUIRE(teams.size * teams.per_block() == kTeamThreads);
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> threads;
      for (std::uint32_t thread = 0; thread < kTeamThreads; ++thread) {
        const auto [item, rank] = teams.member(3, thread);
        REQUIRE(item / teams.per_block() == 3);
        REQUIRE(rank < teams.size);
        REQUIRE(threads.emplace(std::pair(item, rank), thread).second);
        if (rank > 0) REQUIRE(threads.at({item, rank - 1}) == thread - teams.step());
      }
      const auto [item, rank] = teams.member(0, 1);
      if (columns) CHECK((item == 1 && rank == 0));
      if (!columns && teams.size > 1) CHECK((item == 0 && rank == 1));
    }
  }
}
