#include <keyway/core/base/philox.h>
#include <keyway/tests/catch.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

using namespace keyway;

TEST_CASE("philox4x32_10 gives the known answers of Random123") {
  static_assert(philox4x32_10({{0, 0, 0, 0}}, 0) == PhiloxBlock{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  static_assert(philox4x32_10({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff) ==
                PhiloxBlock{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  static_assert(philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822) ==
                PhiloxBlock{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("element, call and block have counter bits of their own") {
  const std::uint64_t calls[] = {0, 1, 0xffffffff, std::uint64_t{1} << 32, (std::uint64_t{1} << 48) - 1};
  const std::uint64_t elements[] = {0, 1, std::uint64_t{1} << 32, ~std::uint64_t{0}};
  const std::uint16_t blocks[] = {0, 1, 0xffff};
  std::set<std::uint64_t> seen;
  for (const auto call : calls) {
    for (const auto element : elements) {
      for (const auto block : blocks) seen.insert(PhiloxCall{7, call}.bits(element, block).wide(0));
    }
  }
  CHECK(seen.size() == 5 * 4 * 3);
}

TEST_CASE("uniform numbers reach 0 and stay below 1") {
  static_assert(uniform_float(0) == 0 && uniform_float(0xffffffff) == 1 - 0x1p-24f);
  static_assert(uniform_double(0) == 0 && uniform_double(~std::uint64_t{0}) == 1 - 0x1p-53);
  const PhiloxCall call{3, 0};
  double sum = 0, squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double x = uniform_double(call.bits(static_cast<std::uint64_t>(i)).wide(0));
    sum += x;
    squares += x * x;
  }
  CHECK(std::fabs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::fabs(squares / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
}

TEST_CASE("normal numbers have the moments of the standard normal distribution, and no infinities") {
  const PhiloxCall call{4, 0};
  constexpr int n = 100000;
  std::array<double, 4> moments{}, moments_float{};
  double covariance = 0;
  for (int i = 0; i < n; ++i) {
    const PhiloxBlock b = call.bits(static_cast<std::uint64_t>(i));
    const auto d = normal_doubles(b.wide(0), b.wide(1));
    const auto f = normal_floats(b.words[0], b.words[1]);
    covariance += d.first * d.second / n;
    for (std::size_t k = 0; k < 4; ++k) {
      const int power = static_cast<int>(k) + 1;
      moments[k] += (std::pow(d.first, power) + std::pow(d.second, power)) / (2 * n);
      moments_float[k] += (std::pow(f.first, power) + std::pow(f.second, power)) / (2 * n);
    }
  }
  // Five standard errors of each moment's mean: its variance is E[x^2k] - E[x^k]^2.
  const double expected[] = {0, 1, 0, 3}, variance[] = {1, 2, 15, 96};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(std::fabs(moments[k] - expected[k]) < 5 * std::sqrt(variance[k] / (2 * n)));
    CHECK(std::fabs(moments_float[k] - expected[k]) < 5 * std::sqrt(variance[k] / (2 * n)));
  }
  CHECK(std::fabs(covariance) < 5 * std::sqrt(1.0 / n));
  CHECK(std::isfinite(normal_floats(0xffffffff, 0).first));
  CHECK(std::isfinite(normal_doubles(~std::uint64_t{0}, 0).first));
  CHECK(normal_doubles(0, 5).first == 0);
}

// Of this seed the first bits times the bound have a low half that is below 2^64 mod bound; found by trying.
constexpr std::uint64_t kRejectingSeed = 5440500413, kRejectedBound = 4294901761;

TEST_CASE("bits that would make some integers likelier are rejected") {
  constexpr PhiloxCall call{kRejectingSeed, 0};
  const PhiloxBlock bits = call.bits(0);
  const std::uint64_t low = bits.wide(0) * kRejectedBound;
  REQUIRE(low < (std::uint64_t{0} - kRejectedBound) % kRejectedBound);
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(bits.wide(1)) * kRejectedBound;
  CHECK(call.bounded(0, kRejectedBound) == static_cast<std::uint64_t>(product >> 64));
  std::uint32_t unsure = 0;
  call.bounded_unless(0, kRejectedBound, unsure);
  CHECK(unsure == 1);
}

TEST_CASE("the form for vectors gives the same integers") {
  std::uint32_t unsure = 0;
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{10}, kRejectedBound, std::uint64_t{1} << 32}) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
      constexpr PhiloxCall call{5, 3};
      REQUIRE(call.bounded_unless(i, bound, unsure) == call.bounded(i, bound));
    }
  }
  CHECK(unsure == 0);
}

TEST_CASE("bounded integers stay below the bound and are equally likely") {
  const PhiloxCall call{5, 9};
  constexpr std::uint64_t bound = 7, n = 70000;
  std::array<double, bound> counts{};
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t x = call.bounded(i, bound);
    REQUIRE(x < bound);
    counts[x] += 1;
  }
  double chi2 = 0;
  for (const double c : counts) chi2 += (c - n / bound) * (c - n / bound) / (n / bound);
  CHECK(chi2 < 27.9);  // 6 degrees of freedom, p = 1e-4

  // A bound just above 2^63 rejects almost half of all draws, and must not favour the lower numbers.
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  double low = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t x = call.bounded(i, large);
    REQUIRE(x < large);
    low += x < large / 2;
  }
  CHECK(std::fabs(low / n - 0.5) < 5 * std::sqrt(0.25 / n));
  CHECK(call.bounded(1, 1) == 0);
  CHECK(call.bounded(1, 0) == call.bits(1).wide(0));
}
