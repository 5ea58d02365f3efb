// How a reduction is shared out, walked through on the host thread by thread, by the code that devices run. The oracle
// goes over indices by the tensor's own strides.
#include <keyway/backends/cuda/reduction_launch.h>
#include <keyway/tests/catch.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

constexpr int kItem = 4;  // bytes of a float

using Elements = std::map<const char*, std::map<const char*, std::int64_t>>;  // by output: element, index

// What each output is the reduction of.
Elements expected(const TensorBase& out, const TensorBase& self, const std::vector<bool>& reduced) {
  Elements all;
  const std::size_t rank = self.sizes().size();
  std::vector<std::int64_t> at(rank, 0);
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    std::int64_t from = 0, to = 0, index = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      from += at[d] * self.strides()[d];
      if (reduced[d]) {
        index = index * self.sizes()[d] + at[d];
      } else {
        to += at[d] * out.strides()[d];
      }
    }
    all[static_cast<const char*>(out.data_ptr()) + to * 4][static_cast<const char*>(self.data_ptr()) + from * 4] =
        index;
    for (std::size_t d = rank; d-- > 0 && ++at[d] == self.sizes()[d];) at[d] = 0;
  }
  return all;
}

// What a thread reads of an item, as it finds it: a piece from its first element on.
void take_item(const ReductionLaunch& launch, std::uint32_t item, const char* first,
               std::map<const char*, std::int64_t>& elements) {
  const std::uint32_t begin = item * launch.width, left = launch.reduced.numel - begin;
  std::int64_t at[1][2];
  launch.locate({begin}, at);
  if (launch.aligned) REQUIRE(reinterpret_cast<std::uintptr_t>(first + at[0][0]) % kPieceBytes == 0);
  for (std::uint32_t j = 0; j < std::min(launch.width, left); ++j) {
    const std::int64_t index = at[0][1] + (j == 0 ? 0 : j * launch.index_step());
    REQUIRE(elements.emplace(first + at[0][0] + j * kItem, index).second);
  }
}

// What the threads of the launches read. Every one of them is asked.
Elements shared_out(const TensorBase& out, const TensorBase& self, IntArrayRef dims) {
  Elements all;
  IterationSpace space, all_kept, reduced;
  detail::make_reduction_space(space, out, nullptr, self, dims, true);
  split_space(space, all_kept, reduced);
  for_each_part(all_kept, [&](const IterationSpace& kept) {
    const std::vector<ReductionLaunch> launches = reduction_launches(kept, reduced, kItem);
    std::uint32_t unit_number = 0;
    for (const ReductionLaunch& launch : launches) {
      REQUIRE(launch.first_unit == unit_number);
      REQUIRE(launch.count == self.numel() / out.numel());
      unit_number += launch.units;
      for (std::uint32_t block = 0; block < launch.blocks(); ++block) {
        for (std::uint32_t unit = 0; unit < launch.units; ++unit) {
          for (std::uint32_t thread = 0; thread < kTeamThreads; ++thread) {
            const auto [output, reducer] = launch.teams.member(block, thread);
            REQUIRE(reducer < launch.teams.size);
            if (output >= launch.kept.numel) continue;
            // The thread of the next reducer stands one step further.
            if (reducer > 0) {
              const auto before = launch.teams.member(block, thread - launch.teams.step());
              REQUIRE((before.item == output && before.rank + 1 == reducer));
            }
            std::int64_t offset[2];
            launch.kept.locate(output, offset);
            const char* const first = launch.kept.data[detail::kSelf] + offset[0];
            auto& elements = all[launch.kept.data[detail::kOut] + offset[1]];
            for (std::uint32_t i = launch.unit_begin(unit) + reducer; i < launch.unit_end(unit); i += launch.teams.size)
              take_item(launch, i, first, elements);
          }
        }
      }
    }
    REQUIRE(units_of(launches) == unit_number);
  });
  return all;
}

void check(std::mt19937& random, IntArrayRef sizes, const std::vector<bool>& reduced) {
  std::vector<std::int64_t> dims, out_sizes = sizes.vec(), strides = sizes.vec();
  std::int64_t next = 1;
  const bool turned = random() % 3 == 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t d = turned ? i : sizes.size() - 1 - i;
    strides[d] = next;
    next *= sizes[d] * (random() % 4 == 0 ? 2 : 1);
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!reduced[d]) continue;
    dims.push_back(static_cast<std::int64_t>(d));
    out_sizes[d] = 1;
  }
  const TensorBase self = make_tensor_strided(sizes, strides, kFloat, kCPU);
  const TensorBase out = make_tensor(out_sizes, kFloat, kCPU);
  REQUIRE(shared_out(out, self, dims) == expected(out, self, reduced));
}

}  // namespace

TEST_CASE("each element is reduced once, into its own output and with its own index") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    DimVector sizes;
    std::vector<bool> reduced;
    const std::size_t rank = 1 + random() % 7;
    for (std::size_t d = 0; d < rank; ++d) {
      sizes.push_back(1 + random() % (rank < 3 ? 60 : rank < 5 ? 9 : 3));
      reduced.push_back(random() % 2 == 0);
    }
    if (std::find(reduced.begin(), reduced.end(), true) == reduced.end()) reduced[random() % rank] = true;
    check(random, sizes, reduced);
  }
}

TEST_CASE("long reductions are shared by many blocks, and short ones by few threads") {
  std::mt19937 random(4);
  check(random, {300'000}, {true});
  check(random, {3, 70'001}, {false, true});
  check(random, {5'000, 33}, {true, false});
  check(random, {40'000, 3}, {false, true});
  const auto launch_of = [](IntArrayRef sizes, IntArrayRef out_sizes, std::int64_t dim) {
    IterationSpace space, kept, reduced;
    const TensorBase out = make_tensor(out_sizes, kFloat, kCPU), self = make_tensor(sizes, kFloat, kCPU);
    detail::make_reduction_space(space, out, nullptr, self, {dim}, false);
    split_space(space, kept, reduced);
    return reduction_launches(kept, reduced, kItem).front();
  };
  const ReductionLaunch all = launch_of({1 << 22}, {1}, 0);
  CHECK(all.teams.size == kTeamThreads);
  CHECK(all.units > 500);
  const ReductionLaunch rows = launch_of({1 << 16, 64}, {1 << 16, 1}, 1);
  CHECK(rows.width == 4);
  CHECK(rows.aligned);
  CHECK(rows.teams.size == 16);
  CHECK(rows.units == 1);
  CHECK_FALSE(rows.teams.columns);
  const ReductionLaunch columns = launch_of({64, 1 << 16}, {1, 1 << 16}, 0);
  CHECK(columns.width == 1);
  CHECK(columns.teams.columns);
  CHECK(columns.teams.per_block() >= 32);
}

TEST_CASE("which elements are a piece does not depend on where memory begins") {
  const TensorBase memory = make_tensor({3 * 41 + 1}, kFloat, kCPU), out = make_tensor({3, 1}, kFloat, kCPU);
  const auto launch_of = [&](std::int64_t row, std::int64_t offset) {
    IterationSpace space, kept, reduced;
    const TensorBase self = make_view(memory, {3, 40}, {row, 1}, offset);
    detail::make_reduction_space(space, out, nullptr, self, {1}, false);
    split_space(space, kept, reduced);
    return reduction_launches(kept, reduced, kItem).front();
  };
  const ReductionLaunch aligned = launch_of(40, 0), apart = launch_of(41, 0), behind = launch_of(40, 1);
  CHECK(aligned.aligned);
  for (const ReductionLaunch& other : {apart, behind}) {
    CHECK_FALSE(other.aligned);
    CHECK(other.width == aligned.width);
    CHECK(other.teams.size == aligned.teams.size);
    CHECK(other.unit == aligned.unit);
  }
}

TEST_CASE("few outputs of many units are merged by many threads") {
  LaunchSpace one, many;
  many.rank = 1;
  many.numel = 1000;
  many.sizes[0] = Divisor(1000);
  CHECK(finish_launch(one, 2048, 1, nullptr).teams.size == kTeamThreads);
  CHECK(finish_launch(one, 0, 0, nullptr).blocks() == 1);
  const FinishLaunch columns = finish_launch(many, 8, 1, nullptr);
  CHECK(columns.teams.columns);
  CHECK(columns.blocks() * columns.teams.per_block() >= 1000);
}
