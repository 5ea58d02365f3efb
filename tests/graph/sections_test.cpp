// Which steps run beside each other, and where memory lies then: of random steps, by the definitions.
#include <keyway/graph/section_layout.h>
#include <keyway/graph/sections.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace keyway;
using namespace keyway::graph;

namespace {

using Steps = std::vector<StepUse>;

Steps random_steps(std::mt19937& random, std::size_t count, std::size_t memories) {
  Steps steps;
  for (std::size_t i = 0; i < count; ++i) {
    StepUse step{{}, {}, random() % 16 != 0, static_cast<double>(1 + random() % 8)};
    for (std::size_t k = random() % 3; k > 0; --k) step.reads.push_back(random() % memories);
    step.writes.push_back(random() % memories);
    steps.push_back(std::move(step));
  }
  return steps;
}

bool meet(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  return std::ranges::any_of(a, [&](std::size_t memory) { return std::ranges::find(b, memory) != b.end(); });
}

// Whether the first has to be made before the second, which comes later.
bool has_to_precede(const StepUse& first, const StepUse& second) {
  return !first.is_movable || !second.is_movable || meet(first.writes, second.writes) ||
         meet(first.writes, second.reads) || meet(first.reads, second.writes);
}

struct Place {
  std::size_t section, part, position;
  bool is_before(const Place& other) const {
    if (section != other.section) return section < other.section;
    return part == other.part && position < other.position;
  }
};

std::vector<Place> places_of(const std::vector<Section>& sections, std::size_t count) {
  std::vector<Place> places(count);
  std::vector<int> seen(count);
  for (std::size_t s = 0; s < sections.size(); ++s) {
    for (std::size_t p = 0; p < sections[s].parts.size(); ++p) {
      for (std::size_t i = 0; i < sections[s].parts[p].size(); ++i) {
        places[sections[s].parts[p][i]] = {s, p, i};
        ++seen[sections[s].parts[p][i]];
      }
    }
  }
  CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
  return places;
}

// Seconds that sections take if parts are free to run.
double seconds_of(const std::vector<Section>& sections, const Steps& steps) {
  double sum = 0;
  for (const Section& section : sections) {
    double longest = 0;
    for (const std::vector<std::size_t>& part : section.parts) {
      double own = 0;
      for (const std::size_t step : part) own += steps[step].seconds;
      longest = std::max(longest, own);
    }
    sum += longest;
  }
  return sum;
}

double seconds_in_turn(const Steps& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0, [](double sum, const StepUse& s) { return sum + s.seconds; });
}

// Each writes a memory of its number.
StepUse step_of(std::size_t number, std::vector<std::size_t> reads, double seconds) {
  return {std::move(reads), {number}, true, seconds};
}

}  // namespace

TEST_CASE("in sections every step comes after what it needs") {
  std::mt19937 random(1);
  std::size_t parallel = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = 1 + random() % 60;
    const Steps steps = random_steps(random, count, 1 + random() % 80);
    const std::size_t most = 1 + random() % 5;
    const std::vector<Section> sections = find_sections(steps, most, random() % 2 == 0 ? 0 : 3);
    const std::vector<Place> places = places_of(sections, count);
    bool is_ordered = true;
    for (std::size_t later = 0; later < count; ++later) {
      for (std::size_t first = 0; first < later; ++first)
        is_ordered =
            is_ordered && (!has_to_precede(steps[first], steps[later]) || places[first].is_before(places[later]));
    }
    CHECK(is_ordered);
    CHECK(seconds_of(sections, steps) <= seconds_in_turn(steps));
    for (const Section& section : sections) {
      CHECK(section.parts.size() <= most);
      parallel += section.is_parallel();
    }
    if (most == 1) CHECK(std::ranges::none_of(sections, &Section::is_parallel));
  }
  CHECK(parallel > 400);
}

TEST_CASE("towers are the parts of one section, whatever the order of their steps") {
  for (const bool is_interleaved : {false, true}) {
    Steps steps(24);
    for (std::size_t tower = 0; tower < 4; ++tower) {
      for (std::size_t level = 0; level < 6; ++level) {
        const std::size_t at = is_interleaved ? 4 * level + tower : 6 * tower + level;
        const std::size_t before = is_interleaved ? at - 4 : at - 1;
        steps[at] = step_of(at, level == 0 ? std::vector<std::size_t>{} : std::vector{before}, 10);
      }
    }
    steps.push_back(step_of(
        24, is_interleaved ? std::vector<std::size_t>{20, 21, 22, 23} : std::vector<std::size_t>{5, 11, 17, 23}, 1));
    const std::vector<Section> sections = find_sections(steps, 4, 1);
    REQUIRE(sections.size() == 2);
    CHECK(sections[0].parts.size() == 4);
    CHECK(seconds_of(sections, steps) == 61);
    CHECK(seconds_of(find_sections(steps, 2, 1), steps) == 121);
  }
}

TEST_CASE("gradients of weights run beside those of inputs") {
  Steps steps;  // for each layer: an activation's gradient, that of its input, and that of its weight
  std::size_t gradient = 1000;
  for (int layer = 0; layer < 10; ++layer) {
    const std::size_t n = steps.size();
    steps.push_back(step_of(n, {gradient}, 1));
    steps.push_back(step_of(n + 1, {n}, 10));
    steps.push_back(step_of(n + 2, {n}, 10));
    gradient = n + 1;
  }
  CHECK(seconds_in_turn(steps) == 210);
  CHECK(seconds_of(find_sections(steps, 2, 1), steps) <= 121);
}

TEST_CASE("a chain of steps, and what gains too little, is one section as it stands") {
  Steps chain;
  for (std::size_t i = 0; i < 50; ++i) chain.push_back(step_of(i, {i == 0 ? 99 : i - 1}, 10));
  const std::vector<Section> sections = find_sections(chain, 4, 0);
  REQUIRE(sections.size() == 1);
  CHECK(sections[0].parts.size() == 1);
  CHECK(std::ranges::is_sorted(sections[0].parts[0]));
  const Steps uneven = {step_of(0, {}, 100), step_of(1, {}, 3)};
  CHECK(find_sections(uneven, 2, 0).size() == 1);
  const Steps even = {step_of(0, {}, 100), step_of(1, {}, 100)};
  CHECK(find_sections(even, 2, 150)[0].parts.size() == 1);
  CHECK(find_sections(even, 2, 50)[0].parts.size() == 2);
}

TEST_CASE("memory that steps use beside each other lies apart, and the rest shares places") {
  std::mt19937 random(2);
  std::size_t shared = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 2 + random() % 50, memories = 2 + random() % 60;
    const Steps steps = random_steps(random, count, memories);
    const std::vector<Section> sections = find_sections(steps, 3, 0);
    const std::vector<Place> places = places_of(sections, count);
    const auto uses = uses_of_memories(steps, memories);
    std::vector<std::size_t> bytes(memories);
    for (std::size_t& each : bytes) each = 64 << random() % 4;
    // What a step makes may be an heir of what it is the last one to use.
    std::vector<std::pair<std::size_t, std::size_t>> heirs;
    for (std::size_t heir = 0; heir < memories; ++heir) {
      for (std::size_t memory = 0; memory < memories; ++memory) {
        if (heir == memory || uses[heir].empty() || uses[memory].empty() || bytes[heir] != bytes[memory]) continue;
        const auto has = [&](std::size_t one) {
          return std::ranges::any_of(heirs, [&](const auto& pair) { return pair.first == one || pair.second == one; });
        };
        if (!meet(steps[uses[heir].front()].writes, {heir}) || has(heir) || has(memory)) continue;
        if (uses[memory].back() == uses[heir].front()) heirs.emplace_back(heir, memory);
      }
    }
    const std::vector<std::size_t> homes = homes_of(heirs, uses, sections);
    const ArenaLayout layout = lay_out(bytes, homes, uses, sections);
    const auto is_over_before = [&](std::size_t a, std::size_t b) {
      return std::ranges::all_of(uses[a], [&](std::size_t first) {
        return std::ranges::all_of(uses[b], [&](std::size_t later) {
          return places[first].is_before(places[later]) || (homes[a] == homes[b] && first == later);
        });
      });
    };
    bool are_apart = true;
    for (std::size_t a = 0; a < memories; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const std::size_t at = layout.offsets[homes[a]], other = layout.offsets[homes[b]];
        if (at + bytes[a] <= other || other + bytes[b] <= at) continue;
        are_apart = are_apart && (is_over_before(a, b) || is_over_before(b, a));
        ++shared;
      }
      are_apart = are_apart && layout.offsets[homes[a]] + bytes[a] <= layout.bytes;
    }
    CHECK(are_apart);
  }
  CHECK(shared > 300);
}
