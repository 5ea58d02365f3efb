#!/usr/bin/env bash
# Sets up, builds and tests.
#   bash tools/test.sh          the release build and its whole suite
#   bash tools/test.sh --ci     what CI runs: the stages ci, asan and fuzz, or those that are named behind, as tsan and cuda
# KEYWAY_JOBS sets how many processes build and test at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
source tools/stages.sh

release_stage() {
  build release
  run_tests release
}

# CUDA's kernels are compiled once, for the devices that the host emulates, where an address that is wrong shows: in the
# asan stage.
ci_stage() {
  local options=(-DKEYWAY_CUDA=OFF -DKEYWAY_EMULATED_CUDA=OFF)
  build ci
  run_tests ci
  boundary_calls ci 500
}

# Without the gradients that are compared with differences, and hard numbers of decompositions: boundary calls go backward
# through every operator here, and other tests decompose each call.
asan_stage() {
  local options=(-DKEYWAY_UNITY=ALL -DKEYWAY_PRECOMPILE=ON)
  build asan
  run_tests asan -LE checks -E '^ops:(gradcheck|decompositions_values)_test$'
}

# Needs the asan stage before it.
fuzz_stage() {
  boundary_calls asan 300
}

# CUDA's kernels by nvcc, for changes of these: five minutes more are too long for every change. They are compiled to the
# instructions that all devices share, not to those of one, and little optimised: tools/nightly.sh takes all as users do.
cuda_stage() {
  local options=(-DKEYWAY_CUDA=ON -DKEYWAY_EMULATED_CUDA=OFF -DCMAKE_CUDA_ARCHITECTURES=90-virtual -DCMAKE_CUDA_FLAGS=-Ofc=max
    "-DCMAKE_CUDA_FLAGS_RELEASE=-O1 -DNDEBUG")
  build ci keyway_cuda suite_backends
  run_tests ci -R '^(backends/cuda|checks/kernels|install_cuda)'
}

# What threads meet in, for changes of that: a third build of the library is too long for every change. tools/nightly.sh
# runs all.
tsan_stage() {
  local launcher options=(-DKEYWAY_UNITY=ALL -DKEYWAY_PRECOMPILE=ON)
  read -ra launcher <<< "$(fixed_addresses)"
  build tsan suite_core suite_dispatch suite_autograd suite_plugins suite_tasks tests_backends_cpu
  run_tests tsan -R '^((core|dispatch|autograd|plugins|tasks)[:/]|backends/cpu:(parallel|attention|layer_norm)_test$)'
}

case "${*:-}" in
  "") stages=(release) ;;
  --ci) stages=(ci asan fuzz) ;;
  "--ci "*) stages=("${@:2}") ;;
  *) stages=(unknown) ;;
esac
for name in "${stages[@]}"; do
  if ! declare -F "${name}_stage" > /dev/null; then
    echo "usage: bash tools/test.sh [--ci [ci] [asan] [fuzz] [cuda] [tsan]]" >&2
    exit 2
  fi
done

stage set-up bash tools/setup.sh
if [[ ${1-} == --ci ]]; then
  # Of an empty cache no file comes, so none is to be preprocessed on its own for one.
  export CCACHE_DEPEND=1
fi
for name in "${stages[@]}"; do stage "$name" "${name}_stage"; done
finish
