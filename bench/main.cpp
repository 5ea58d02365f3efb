// Runs the rows on one thread; a row that wants more says so, and goes back to one.
#include <keyway/bench/harness.h>

int main(int argc, char** argv) {
  lib::set_num_threads(1);
#if defined(KEYWAY_BENCH_TORCH)
  benchmark::AddCustomContext("library", "PyTorch " TORCH_VERSION);
#endif
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
