// Where the threads of a launch find their elements, walked through on the host by the code that devices run. The
// oracle goes over indices by the tensors' own strides.
#include <keyway/backends/cuda/divisor.h>
#include <keyway/backends/cuda/launch_space.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

constexpr std::int64_t kMax = (std::int64_t{1} << 31) - 1;

// A view of a tensor, with its dimensions in some order, steps between elements, and some dimensions broadcast.
TensorBase random_view(std::mt19937& random, IntArrayRef sizes, ScalarType dtype, bool broadcast) {
  const std::size_t rank = sizes.size();
  std::vector<std::size_t> order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> own = sizes.vec(), strides = sizes.vec();
  std::int64_t next = random() % 3 == 0 ? 2 : 1;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t d = order[i];
    if (broadcast && random() % 3 == 0) own[d] = 1;
    strides[d] = next;
    next *= own[d] * (random() % 4 == 0 ? 2 : 1);
  }
  return make_tensor_strided(own, strides, dtype, kCPU);
}

// Addresses of the operands' elements that meet at each index of the first one.
template <std::size_t N>
using Meetings = std::map<const char*, std::array<const char*, N>>;

template <std::size_t N>
Meetings<N> expected(const std::array<TensorBase, N>& operands) {
  Meetings<N> all;
  const TensorBase& first = operands[0];
  const std::size_t rank = first.sizes().size();
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t i = 0; i < first.numel(); ++i) {
    std::array<const char*, N> at;
    for (std::size_t k = 0; k < N; ++k) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        if (operands[k].sizes()[d] != 1) offset += index[d] * operands[k].strides()[d];
      }
      at[k] =
          static_cast<const char*>(operands[k].data_ptr()) + offset * static_cast<std::int64_t>(operands[k].itemsize());
    }
    all.emplace(at[0], at);
    for (std::size_t d = rank; d-- > 0 && ++index[d] == first.sizes()[d];) index[d] = 0;
  }
  return all;
}

template <std::size_t N>
IterationSpace space_of(const std::array<TensorBase, N>& operands) {
  std::array<const TensorBase*, N> pointers;
  for (std::size_t k = 0; k < N; ++k) pointers[k] = &operands[k];
  IterationSpace space;
  make_iteration_space(space, operands[0].sizes(), pointers.data(), static_cast<int>(N));
  return space;
}

template <std::size_t N>
Meetings<N> by_elements(const IterationSpace& space) {
  Meetings<N> all;
  for_each_part(space, [&](const IterationSpace& part) {
    const LaunchSpace launch = launch_space(part);
    for (std::uint32_t i = 0; i < launch.numel; ++i) {
      char* found[N];
      launch.find(i, found);
      std::array<const char*, N> at;
      std::copy(found, found + N, at.begin());
      all.emplace(at[0], at);
    }
  });
  return all;
}

template <std::size_t N>
Meetings<N> by_vectors(const VectorSpace& space, int width, const std::int16_t* itemsize) {
  Meetings<N> all;
  for (std::uint32_t v = 0; v < space.vectors; ++v) {
    const VectorSpace::Position position = space.position(v, static_cast<std::uint32_t>(width));
    std::int64_t offset[N];
    space.rows.locate(position.row, offset);
    std::array<const char*, N> at;
    for (std::size_t k = 0; k < N; ++k) {
      at[k] = space.rows.data[k] + offset[k] + std::int64_t{position.column} * space.step[k];
      const std::uintptr_t bytes = static_cast<std::uintptr_t>(width) * static_cast<std::uintptr_t>(itemsize[k]);
      if (!space.scalar[k]) REQUIRE(reinterpret_cast<std::uintptr_t>(at[k]) % bytes == 0);
    }
    REQUIRE(position.column < space.columns);
    const std::uint32_t end = std::min(space.columns, position.column + static_cast<std::uint32_t>(width));
    for (std::uint32_t column = position.column; column < end; ++column) {
      REQUIRE(all.emplace(at[0], at).second);
      for (std::size_t k = 0; k < N; ++k) at[k] += space.step[k];
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a divisor gives the quotient of every number of 31 bits") {
  std::mt19937 random(1);
  std::vector<std::uint32_t> divisors{1, 2, 3, 5, 7, 641, 65535, 65536, 65537, 0x7ffffffe, 0x7fffffff};
  for (int i = 0; i < 2000; ++i) divisors.push_back(1 + random() % (i % 2 == 0 ? 1000 : 0x7fffffff));
  for (const std::uint32_t d : divisors) {
    const Divisor divisor(d);
    std::vector<std::uint32_t> numbers{0, 1, d - 1, d, d + (d < 0x7fffffff ? 1 : 0), 0x7fffffff};
    for (int i = 0; i < 100; ++i) {
      const std::uint32_t multiple = d * (random() % (0x7fffffff / d + 1));
      numbers.insert(numbers.end(),
                     {static_cast<std::uint32_t>(random() & 0x7fffffff), multiple, multiple == 0 ? 0 : multiple - 1});
    }
    for (const std::uint32_t n : numbers) {
      if (divisor.quotient(n) != n / d) FAIL(n << " / " << d << " gives " << divisor.quotient(n));
    }
  }
}

TEST_CASE("each element is found once, with those at the same index in the other operands") {
  std::mt19937 random(2);
  int with_vectors = 0;
  for (int round = 0; round < 3000; ++round) {
    DimVector sizes;
    const std::size_t rank = random() % 8;
    for (std::size_t d = 0; d < rank; ++d) sizes.push_back(1 + random() % (rank < 3 ? 20 : rank < 6 ? 5 : 3));
    const std::array<TensorBase, 3> operands{random_view(random, sizes, kFloat, false),
                                             random_view(random, sizes, kFloat, true),
                                             random_view(random, sizes, kBool, true)};
    const Meetings<3> oracle = expected(operands);
    const IterationSpace space = space_of(operands);
    REQUIRE(by_elements<3>(space) == oracle);
    const std::int16_t itemsize[] = {4, 4, 1};
    if (!is_part(space)) continue;
    if (const auto vectors = vector_space(space, itemsize, 4)) {
      ++with_vectors;
      REQUIRE(by_vectors<3>(*vectors, 4, itemsize) == oracle);
    }
  }
  CHECK(with_vectors > 50);
}

TEST_CASE("vectors serve what lies in rows that begin at multiples of their size, and nothing else") {
  const std::int16_t itemsize[] = {4, 4};
  const auto served = [&](const TensorBase& out, const TensorBase& in) {
    return vector_space(space_of(std::array<TensorBase, 2>{out, in}), itemsize, 4).has_value();
  };
  const auto strided = [](IntArrayRef sizes, IntArrayRef strides) {
    return make_tensor_strided(sizes, strides, kFloat, kCPU);
  };
  const TensorBase plain = strided({6, 8}, {8, 1});
  CHECK(served(plain, plain));
  CHECK(served(plain, strided({1, 8}, {8, 1})));
  CHECK(served(plain, strided({6, 1}, {1, 1})));
  CHECK(served(strided({6, 7}, {8, 1}), strided({6, 7}, {12, 1})));
  CHECK_FALSE(served(strided({6, 7}, {9, 1}), strided({6, 7}, {12, 1})));  // rows begin anywhere
  CHECK_FALSE(served(plain, strided({6, 8}, {1, 6})));
  CHECK_FALSE(served(plain, strided({6, 8}, {16, 2})));
  CHECK_FALSE(served(strided({6, 3}, {4, 1}), strided({6, 3}, {4, 1})));  // shorter than a vector
  CHECK_FALSE(served(strided({}, {}), strided({}, {})));
  TensorBase shifted = strided({9}, {1});
  shifted.impl()->set_geometry({8}, {1}, 1, 8);
  CHECK_FALSE(served(shifted, shifted));
}

TEST_CASE("a space that is too large for a kernel is cut into parts that are not") {
  std::int64_t elements = 0;
  char memory;
  IterationSpace space;
  space.rank = 3;
  space.operands = 1;
  space.data[0] = &memory;
  space.sizes[0] = 5;
  space.sizes[1] = 70001;
  space.sizes[2] = 70003;
  for (int d = 0; d < 3; ++d) space.strides[0][d] = 0;
  for_each_part(space, [&](const IterationSpace& part) {
    std::int64_t n = 1;
    for (int d = 0; d < part.rank; ++d) n *= part.sizes[d];
    CHECK(n <= kMax);
    CHECK(launch_space(part).numel == n);
    elements += n;
  });
  CHECK(elements == std::int64_t{5} * 70001 * 70003);
}

TEST_CASE("a space of too many dimensions is cut into few parts, whatever the size of the outermost") {
  IterationSpace space;
  space.rank = 8;
  space.operands = 1;
  std::int64_t numel = 1;
  for (int d = 0; d < space.rank; ++d) {
    space.sizes[d] = d == 7 ? 1000 : d == 2 ? 3 : d == 0 ? 2 : 4;
    space.strides[0][d] = numel;
    numel *= space.sizes[d];
  }
  std::vector<char> visits(static_cast<std::size_t>(numel), 0);
  space.data[0] = visits.data();
  int parts = 0;
  for_each_part(space, [&](const IterationSpace& part) {
    ++parts;
    const LaunchSpace launch = launch_space(part);
    for (std::uint32_t i = 0; i < launch.numel; ++i) {
      char* at[1];
      launch.find(i, at);
      ++*at[0];
    }
  });
  CHECK(parts == 3 * 4);
  CHECK(std::count(visits.begin(), visits.end(), 1) == numel);
}
