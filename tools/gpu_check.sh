#!/usr/bin/env bash
# All that needs a CUDA device, in one go on a machine that has one: builds for its architecture, runs the conformance suite and
# the backend's tests, again under compute-sanitizer, and measures beside the PyTorch that is installed there.
#   bash tools/gpu_check.sh [folder]    writes report.txt and figures.json there; build/gpu/report if none is named
# KEYWAY_JOBS sets how many processes build at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/gpu
source tools/stages.sh

report=${1-build/gpu/report}
mkdir -p "$report"
driver_tests=build/gpu/tests/tests_backends_cuda_driver
failed=()

build_stage() {
  local prefix cudnn
  prefix=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)' 2> /dev/null || true)
  # PyTorch's packages may bring cuDNN.
  cudnn=$(python3 -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0] + "/include")' 2> /dev/null || true)
  cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DKEYWAY_CCACHE=ON \
    -DKEYWAY_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native -DKEYWAY_BUILD_BENCH=ON ${prefix:+-DKEYWAY_TORCH_PREFIX="$prefix"} \
    ${cudnn:+-DKEYWAY_CUDNN="$cudnn"}
  cmake --build build/gpu -j "$jobs" --target keyway_cuda tests_ops tests_backends_cuda_driver bench_keyway_cuda
  # Only where the installed PyTorch is one for CUDA.
  if cmake --build build/gpu --target help | grep -q '^bench_torch_cuda\b'; then
    cmake --build build/gpu -j "$jobs" --target bench_torch_cuda
  fi
}

# check "name" command...: runs it, and notes it where it fails, so that the rest is seen too.
check() {
  local name=$1
  shift
  say "$name"
  "$@" || failed+=("$name")
}

sanitizer() {
  KEYWAY_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$1" --error-exitcode 1 "${@:2}"
}

all() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  git log --oneline -1 2> /dev/null || true
  stage build build_stage
  check "the backend's tests" "$driver_tests"
  check "convolutions without cuDNN" env KEYWAY_CUDA_CUDNN=0 "$driver_tests" "*convolution*"
  check "convolutions in TF32" env KEYWAY_CUDA_ALLOW_TF32=1 "$driver_tests" "a tensor core may round*"
  check "every operator against the CPU" build/gpu/tests/tests_ops "CUDA gives what the CPU gives*"
  if command -v compute-sanitizer > /dev/null; then
    check "memory checker, the backend's tests" sanitizer memcheck "$driver_tests"
    check "memory checker, every operator" sanitizer memcheck build/gpu/tests/tests_ops "CUDA gives what the CPU gives*"
    check "race checker" sanitizer racecheck "$driver_tests"
    check "barrier checker" sanitizer synccheck "$driver_tests"
  else
    failed+=("compute-sanitizer is not installed")
  fi
  check "figures" python3 tools/bench/compare.py --cuda --build build/gpu --repetitions 3 --json "$report/figures.json"
  say "result"
  if ((${#failed[@]} > 0)); then
    printf 'failed: %s\n' "${failed[@]}"
    return 1
  fi
  echo "all passed"
}

if ! command -v nvidia-smi > /dev/null || ! nvidia-smi > /dev/null; then
  echo "There is no CUDA device here: nvidia-smi finds none." >&2
  exit 1
fi
all 2>&1 | tee "$report/report.txt"
