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

// What the threads of the launches read. Every one of them is asked.
Elements shared_out(const TensorBase& out, const TensorBase& self, IntArrayRef dims) {
  Elements all;
  Strided space, all_kept, reduced;
  detail::make_reduction_space(space, out, nullptr, self, dims, true);
  split_space(space, all_kept, reduced);
  for_each_part(all_kept, [&](const Strided& kept) {
    const std::vector<ReductionLaunch> launches = reduction_launches(kept, reduced);
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
            for (std::uint32_t i = launch.unit_begin(unit) + reducer; i < launch.unit_end(unit);
                 i += launch.teams.size) {
              const auto [from, index] = launch.element(i);
              auto& elements = all[launch.kept.data[detail::kOut] + offset[1]];
              REQUIRE(elements.emplace(launch.kept.data[detail::kSelf] + offset[0] + from, index).second);
            }
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
    Strided space, kept, reduced;
    const TensorBase out = make_tensor(out_sizes, kFloat, kCPU), self = make_tensor(sizes, kFloat, kCPU);
    detail::make_reduction_space(space, out, nullptr, self, {dim}, false);
    split_space(space, kept, reduced);
    return reduction_launches(kept, reduced).front();
  };
  const ReductionLaunch all = launch_of({1 << 22}, {1}, 0);
  CHECK(all.teams.size == kTeamThreads);
  CHECK(all.units > 500);
  const ReductionLaunch rows = launch_of({1 << 16, 64}, {1 << 16, 1}, 1);
  CHECK(rows.teams.size == 32);
  CHECK(rows.units == 1);
  CHECK_FALSE(rows.teams.columns);
  const ReductionLaunch columns = launch_of({64, 1 << 16}, {1, 1 << 16}, 0);
  CHECK(columns.teams.columns);
  CHECK(columns.teams.per_block() >= 32);
}
