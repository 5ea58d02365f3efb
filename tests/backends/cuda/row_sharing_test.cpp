// Rows that are shared out among teams (backends/cuda/row_space.h).
#include <keyway/backends/cuda/row_space.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::cuda;

namespace {

// How many stretches there are of a row of a new tensor, which are checked to be the row.
std::int64_t shared(IntArrayRef sizes, std::int64_t dim) {
  const TensorBase x = make_tensor(sizes, kByte, DeviceType::CPU);
  RowSpace row_space(x.sizes(), dim);
  row_space.tensor(x);
  const std::int64_t stretches = row_space.share(), n = sizes[static_cast<std::size_t>(dim)];
  row_space.each_part([&](const RowLaunch& launch) {
    CHECK(launch.n == n);
    CHECK(launch.stretches == stretches);
    CHECK((stretches - 1) * launch.stretch < n);  // the last one has elements
    CHECK(stretches * launch.stretch >= n);
  });
  return stretches;
}

}  // namespace

// What RowSpace::pieces() makes of rows of new tensors, of which the first is `offset` elements behind a multiple of
// 16 bytes.
struct Pieces {
  std::int64_t each;
  std::uint32_t threads, width;
  bool at_once;

  bool operator==(const Pieces&) const = default;
};
Pieces pieces(std::int64_t rows, std::int64_t n, int width, std::int64_t offset = 0) {
  const TensorBase all = make_tensor({rows * n + 16}, kFloat, DeviceType::CPU);
  const TensorBase x = make_view(all, {rows, n}, {n, 1}, offset), y = make_tensor({rows, n}, kFloat, DeviceType::CPU);
  RowSpace row_space(x.sizes(), 1);
  row_space.tensor(x).tensor(y);
  Pieces found{row_space.pieces(width), 0, 0, row_space.in_pieces()};
  row_space.each_part([&](const RowLaunch& launch) {
    found.threads = launch.teams.size;
    found.width = launch.width;
  });
  return found;
}

TEST_CASE("rows that are few and long are shared out, others are not") {
  CHECK(shared({1}, 0) == 1);
  CHECK(shared({16'383}, 0) == 1);
  CHECK(shared({16'384}, 0) == 2);
  CHECK(shared({100'003}, 0) > 10);
  CHECK(shared({40'000'000}, 0) > 1000);
  CHECK(shared({40'000'000}, 0) < 32768);
  CHECK(shared({4, 100'000}, 1) > 10);
  CHECK(shared({2000, 20'000}, 1) == 1);
  CHECK(shared({100'000, 4}, 0) > 100);
  CHECK(shared({200, 4}, 0) == 1);
  CHECK(shared({1000, 40'000}, 0) == 1);
}

TEST_CASE("rows are read in pieces where these are whole and begin at multiples of their size") {
  CHECK(pieces(3, 1024, 4) == Pieces{8, 128, 4, true});
  CHECK(pieces(3, 1024, 4, 4) == Pieces{8, 128, 4, true});
  CHECK(pieces(3, 1024, 4, 1) == Pieces{8, 128, 4, false});  // but the same threads have the same elements
  CHECK(pieces(3, 1022, 4) == Pieces{8, 128, 1, false});
  CHECK(pieces(3, 1024, 1) == Pieces{8, 128, 1, false});
  CHECK(pieces(3, 8192, 4) == Pieces{32, 256, 4, true});
  CHECK(pieces(1, 8200, 4) == Pieces{36, 256, 4, true});
}

TEST_CASE("of many rows each thread has more elements") {
  CHECK(pieces(20'000, 1024, 4) == Pieces{32, 32, 4, true});
  CHECK(pieces(20'000, 1021, 4) == Pieces{32, 32, 1, false});
  CHECK(pieces(20'000, 512, 4) == Pieces{32, 16, 4, true});
  CHECK(pieces(300'000, 64, 4) == Pieces{8, 8, 4, true});
  CHECK(pieces(300'000, 63, 4) == Pieces{2, 32, 1, false});
}
