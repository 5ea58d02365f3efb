// Rows that are shared out among teams (backends/cuda/row_places.h).
#include <keyway/backends/cuda/row_places.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::cuda;

namespace {

// How many stretches there are of a row of a new tensor, which are checked to be the row.
std::int64_t shared(IntArrayRef sizes, std::int64_t dim) {
  const TensorBase x = make_tensor(sizes, kByte, DeviceType::CPU);
  RowPlaces places(x.sizes(), dim);
  places.tensor(x);
  const std::int64_t stretches = places.share(), n = sizes[static_cast<std::size_t>(dim)];
  places.each_part([&](const RowLaunch& launch) {
    CHECK(launch.n == n);
    CHECK(launch.stretches == stretches);
    CHECK((stretches - 1) * launch.stretch < n);  // the last one has elements
    CHECK(stretches * launch.stretch >= n);
  });
  return stretches;
}

}  // namespace

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
