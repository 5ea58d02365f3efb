#!/usr/bin/env bash
# What takes too long for every change: clang, the whole suite under ThreadSanitizer, and the long campaigns.
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

# Tests that repeat themselves more often when asked to: random programs, schedules, boundary calls.
campaign_stage() {
  build asan
  KEYWAY_CAMPAIGN=long run_tests asan -LE checks
}

clang_stage() {
  build clang
  run_tests clang -LE checks
}

stage set-up bash tools/setup.sh --nightly
stage clang clang_stage
stage tsan tsan_stage
stage campaigns campaign_stage
finish
