#!/usr/bin/env bash
# What takes too long for every change: clang, the whole suite under ThreadSanitizer, all of CUDA's architectures, the long
# campaigns of tests, boundary calls and fuzzers, random programs in C++ and in Python, the site of the documentation, every
# operator beside PyTorch's newest release (several GB), and extensions that are written for it. KEYWAY_JOBS sets how many
# processes build and test at a time.
#   bash tools/nightly.sh
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
source tools/stages.sh

tsan_stage() {
  local launcher
  read -ra launcher <<< "$(fixed_addresses)"
  build tsan
  run_tests tsan -LE checks
}

# Tests that repeat themselves more often when asked to (tests/campaign.h).
campaign_stage() {
  build asan
  KEYWAY_CAMPAIGN=long run_tests asan -LE checks
}

# Every public header also compiles alone.
clang_stage() {
  build clang keyway_generated  # for which the headers' targets do not wait
  build clang all all_verify_interface_header_sets
  run_tests clang -LE checks
}

# What users build: the CUDA backend for all its architectures, where there is the toolkit.
release_stage() {
  build release
  run_tests release -R '^checks/'
}

# Benchmarks compile; their figures need a machine that does nothing else.
bench_stage() { build bench; }

# What ctest does not run: all values of a type.
exhaustive_stage() {
  build/release/tests/tests_core_base "[exhaustive]"
}

# Every operator beside PyTorch's newest release: no difference but what tools/oracle/accepted.json says, and all of that.
oracle_stage() {
  PYTHONPATH=build/release/python build/peer/bin/python tools/oracle/compare_opinfo.py --strict --jobs "$jobs"
}

# Extensions written for PyTorch, from PyPI: built as they are, and their functions beside NumPy.
extensions_stage() {
  PYTHONPATH=build/release/python build/venv/bin/python tests/compat/extensions/run.py
}

# Random programs of the Python API, others each day.
python_stage() {
  PYTHONPATH=build/release/python build/venv/bin/python tools/fuzz/fuzz_python.py --steps 1000000 --seed "$(date +%Y%m%d)" \
    --jobs "$jobs" --plugins build/release/tests --keep build/fuzz_python
}

# Random programs in C++, captured and run in all ways; some of them beside PyTorch.
random_stage() {
  local kept=build/release/random_programs
  mkdir -p "$kept"
  KEYWAY_RANDOM_PROGRAMS=100000 build/release/tests/tests_graph "random programs of all kinds*"
  KEYWAY_RANDOM_FIRST=1000000 KEYWAY_RANDOM_PROGRAMS=5000 KEYWAY_KEEP_PROGRAMS=$kept \
    build/release/tests/tests_graph "random programs of all kinds*"
  build/peer/bin/python tools/oracle/compare_graphs.py "$kept"
}

# fuzz name seconds: from the kept inputs on. What it finds new is kept in the build folder only, and so is what breaks it.
fuzz() {
  local found=build/clang/fuzz/$1
  mkdir -p "$found"
  build/clang/tests/"$1"_fuzz -max_total_time="$2" -max_len=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$found"- "$found" tests/fuzz/corpus/"$1" < /dev/null
}

stage set-up bash tools/setup.sh --nightly --bench
stage clang clang_stage
stage tsan tsan_stage
stage campaigns campaign_stage
stage calls boundary_calls asan 20000
stage release release_stage
stage bench bench_stage
stage exhaustive exhaustive_stage
stage oracle oracle_stage
stage extensions extensions_stage
stage python python_stage
stage random random_stage
stage docs bash tools/docs.sh
stage schema fuzz schema 600
stage files fuzz safetensors 600
stage models fuzz onnx 600
stage programs fuzz program 600
stage graphs fuzz graph 600
finish
