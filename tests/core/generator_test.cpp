#include <keyway/core/random/generator.h>
#include <keyway/core/random/thread_seed.h>
#include <keyway/tests/catch.h>

#include <set>
#include <thread>
#include <vector>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("a seed begins the same sequence of calls again") {
  Generator g;
  g.manual_seed(42);
  CHECK(g.initial_seed() == 42);
  CHECK(g.next_call().call == 0);
  const PhiloxCall second = g.next_call();
  CHECK(second.seed == 42);
  CHECK(second.call == 1);
  g.manual_seed(42);
  CHECK(g.next_call().call == 0);
}

TEST_CASE("a generator's state can be saved and restored, and a clone goes its own way") {
  Generator g;
  g.manual_seed(1);
  g.next_call();
  const GeneratorState saved = g.get_state();
  Generator same = g;
  Generator clone = g.clone();
  g.next_call();
  CHECK(same == g);
  CHECK(same.get_state().call == 2);
  CHECK(!(clone == g));
  CHECK(clone.get_state() == saved);
  g.set_state(saved);
  CHECK(g.get_state() == saved);
}

TEST_CASE("calls from many threads get a number each") {
  Generator g;
  std::vector<std::vector<std::uint64_t>> calls(4);
  std::vector<std::thread> threads;
  for (auto& mine : calls) {
    threads.emplace_back([&mine, g]() mutable {
      for (int i = 0; i < 1000; ++i) mine.push_back(g.next_call().call);
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& mine : calls) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == 4000);
  CHECK(*all.rbegin() == 3999);
}

TEST_CASE("a sequence that is used up says so") {
  Generator g;
  const std::uint64_t end = std::uint64_t{1} << 48;
  g.set_state({5, end - 1});
  CHECK(g.next_call().call == end - 1);
  CHECK(error_of([&] { g.next_call(); }) ==
        "The random numbers of seed 5 are used up after 2^48 calls; seed the generator anew.");
  CHECK(g.clone().get_state().call == end);
  CHECK(error_of([&] {
          g.set_state({5, end + 1});
        }) == "A generator's state has call number 281474976710657, but a sequence has only 2^48 calls.");
}

TEST_CASE("seed() begins another sequence each time") {
  Generator g;
  const std::uint64_t first = g.seed();
  CHECK(g.initial_seed() == first);
  CHECK(g.seed() != first);
}

TEST_CASE("manual_seed seeds the default CPU generator") {
  manual_seed(77);
  CHECK(default_cpu_generator().initial_seed() == 77);
  CHECK(default_cpu_generator().device() == Device("cpu"));
  default_cpu_generator().manual_seed(Generator::kDefaultSeed);
}

TEST_CASE("each device has a default generator of its own, and manual_seed seeds them all, those to come too") {
  const Device first("cuda:0"), second("cuda:1");
  manual_seed(78);
  CHECK(default_generator(kCPU) == default_cpu_generator());
  CHECK(default_generator(first).initial_seed() == 78);
  CHECK(default_generator(first).device() == first);
  CHECK(default_generator(first) == default_generator(first));
  CHECK(!(default_generator(first) == default_generator(second)));
  default_generator(first).next_call();
  CHECK(default_generator(second).get_state() == GeneratorState{78, 0});
  manual_seed(79);
  CHECK(default_generator(first).get_state() == GeneratorState{79, 0});
  CHECK(default_generator(second).get_state() == GeneratorState{79, 0});
  manual_seed(Generator::kDefaultSeed);
}

TEST_CASE("a call draws from the generator that it is given, or from its device's default one") {
  const Device first("cuda:0"), second("cuda:1");
  manual_seed(80);
  CHECK(next_call(nullptr, first).seed == 80);
  CHECK(default_generator(first).get_state().call == 1);
  Generator any(kCUDA), own(first);
  any.manual_seed(5);
  CHECK(next_call(any, first).call == 0);
  CHECK(next_call(any, second).call == 1);
  CHECK(next_call(own, first).seed == Generator::kDefaultSeed);
  CHECK(error_of([&] { next_call(own, second); }) == "the generator is for device cuda:0, but the tensor is on cuda:1");
  CHECK(error_of([&] { next_call(own, kCPU); }) == "the generator is for device cuda:0, but the tensor is on cpu");
  manual_seed(Generator::kDefaultSeed);
}

TEST_CASE("several calls are taken at once, and those of a graph from nobody") {
  Generator g;
  g.manual_seed(9);
  CHECK(g.take_calls(3) == GeneratorState{9, 0});
  CHECK(g.take_calls(0) == GeneratorState{9, 3});
  CHECK(g.next_call().call == 3);
  g.set_state({9, (std::uint64_t{1} << 48) - 2});
  CHECK(error_of([&] { g.take_calls(3); }).find("used up after 2^48 calls") != std::string::npos);
  CHECK(g.take_calls(2).call == (std::uint64_t{1} << 48) - 2);

  const Device cpu(DeviceType::CPU);
  const GeneratorState before = default_cpu_generator().get_state();
  const PhiloxStart start{5, 70};
  {
    CapturedDraws draws(cpu, &start);
    const PhiloxCall first = next_call(nullptr, cpu), second = next_call(default_cpu_generator(), cpu);
    CHECK(first.call == 0);
    CHECK(second.call == 1);
    CHECK(second.start == &start);
    CHECK(draws.calls() == 2);
    CHECK(error_of([&] { next_call(g, cpu); }).find("its replays draw from the default generator") !=
          std::string::npos);
  }
  CHECK(default_cpu_generator().get_state() == before);
  CHECK(next_call(nullptr, cpu).start == nullptr);
}

TEST_CASE("a thread with a seed of its own draws from it, and others as if it did not") {
  Generator& generator = default_cpu_generator();
  manual_seed(7);
  {
    const ThreadSeed seed(11);
    CHECK(next_call(nullptr, DeviceType::CPU).seed == 11);
    CHECK(default_generator(DeviceType::CPU).get_state() == GeneratorState{11, 1});
    {
      const ThreadSeed inner(12);
      manual_seed(13);
      CHECK(generator.next_call().seed == 13);
    }
    Generator own;
    own.manual_seed(5);
    CHECK(own.next_call().seed == 5);
    std::thread([] { CHECK(next_call(nullptr, DeviceType::CPU).seed == 7); }).join();
    CHECK(generator.get_state() == GeneratorState{11, 1});
    generator.set_state({3, 9});
  }
  CHECK(generator.get_state() == GeneratorState{7, 1});
}
