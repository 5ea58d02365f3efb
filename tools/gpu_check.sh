#!/usr/bin/env bash
# All that needs a CUDA device, in one go: the backend's tests, every operator beside the CPU, training, boundary calls,
# figures beside the PyTorch that is installed there, and the tests again under compute-sanitizer.
#   bash tools/gpu_check.sh [--report FOLDER] [STAGE...]
#       on a machine with a device: builds for it and runs the stages, all of them if none is named; each is added to
#       report.txt in the folder (build/gpu_report if none is named), beside figures.json
#   bash tools/gpu_check.sh --pack
#       on any machine: builds, and packs what runs into build/gpu_pack, for one without the packages and without a network
#   bash tools/gpu_check.sh --packed FOLDER [--report FOLDER] [STAGE...]
#       there: unpacks that, and runs the stages from it
# KEYWAY_CUDA_ARCHITECTURES says for which devices is built (this machine's or, to pack, 90-real if it is not set),
# KEYWAY_GPU_BUILD where (build/gpu; another build's folder keeps what it has), KEYWAY_JOBS how many processes work at a time.
# Where time is short: `smoke operators driver graphs train figures`, one after the other, take two minutes, and then fuzz
# and the checkers of compute-sanitizer, each in a process with a report of its own, all at the same time.
# KEYWAY_EMULATED_CUDA names the tests' emulated backend, for a rehearsal of the stages without a device.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/stages.sh

build=${KEYWAY_GPU_BUILD:-build/gpu}
files=$build  # where the programs are, as in a build
pack=build/gpu_pack
report=build/gpu_report
mode=build
every_stage=(smoke operators driver graphs train fuzz figures memcheck memcheck_operators synccheck racecheck initcheck)
stages=()
failed=()

driver=tests/tests_backends_cuda_driver
graphs=tests/tests_backends_cuda_graph
texts=tests/tests_backends_cuda_kernel_text
suite=tests/tests_ops
training=tests/tests_tools_keyway_train
command=tools/keyway/keyway
planted=tests/planted_fault
packed=("$driver" "$graphs" "$texts" "$suite" "$training" "$planted" "$command" bench/bench_keyway_cuda libkeyway.so.1
  libkeyway_graph.so.1 libkeyway_cuda.so libkeyway_cuda_graph.so)

usage() {
  sed -n 's/^#   bash/usage: bash/p' tools/gpu_check.sh >&2
  echo "stages: ${every_stage[*]}" >&2
  exit 2
}

read_arguments() {
  while (($# > 0)); do
    case $1 in
      --pack) mode=pack ;;
      --packed | --report)
        if (($# < 2)); then usage; fi
        if [[ $1 == --report ]]; then report=$2; else mode=packed pack=$2; fi
        shift
        ;;
      *) if [[ " ${every_stage[*]} " == *" $1 "* ]]; then stages+=("$1"); else usage; fi ;;
    esac
    shift
  done
  if ((${#stages[@]} == 0)); then stages=("${every_stage[@]}"); fi
}

# What another build's folder says of architectures stays, unless the variable is set.
architectures() {
  if [[ -n ${KEYWAY_CUDA_ARCHITECTURES-} ]]; then
    echo "-DCMAKE_CUDA_ARCHITECTURES=$KEYWAY_CUDA_ARCHITECTURES"
  elif [[ ! -f $build/CMakeCache.txt ]]; then
    if [[ $mode == pack ]]; then echo -DCMAKE_CUDA_ARCHITECTURES=90-real; else echo -DCMAKE_CUDA_ARCHITECTURES=native; fi
  fi
}

# PyTorch's program is built by itself, so that it cannot break this. Checkers of kernels name lines.
build_stage() {
  local options=() cudnn
  mapfile -t options < <(architectures)
  # Python's packages may bring cuDNN.
  cudnn=$(python3 -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0] + "/include")' 2> /dev/null || true)
  if [[ -n $cudnn && $mode == build ]]; then options+=("-DKEYWAY_CUDNN=$cudnn"); fi
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DKEYWAY_CCACHE=ON \
    -DKEYWAY_CUDA=ON -DCMAKE_CUDA_FLAGS=-lineinfo -DKEYWAY_EMULATED_CUDA=OFF -DKEYWAY_BUILD_TESTS=ON -DKEYWAY_BUILD_BENCH=ON \
    -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON "${options[@]}"
  cmake --build "$build" -j "$jobs" --target keyway_cuda keyway_cuda_graph keyway_command tests_ops \
    tests_backends_cuda_driver tests_backends_cuda_graph tests_backends_cuda_kernel_text tests_tools_keyway_train \
    planted_fault bench_keyway_cuda
}

# The libraries of packages that Keyway opens by name, those that are installed.
opened_libraries() {
  PATH=$PATH:/sbin ldconfig -p | sed -nE 's/^\t(liblapack\.so\.3) .*x86-64.* => //p' | head -1
}

# The shared libraries of packages that the files need: not those of the compiler and of libc, which every machine has.
needed_libraries() {
  ldd "$@" | sed -n 's/^\t[^ ]* => \(\/[^ ]*\) .*/\1/p' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libkeyway[^/]*)\.so' || true
}

# One archive, a fifth of what it holds.
pack_stage() {
  local file folder=$pack/files needed=()
  rm -rf "$pack"
  mkdir -p "$folder/lib" "$folder/include/benchmark"
  for file in "${packed[@]}"; do
    install -D --strip "$build/$file" "$folder/$file"
  done
  mapfile -t needed < <(opened_libraries)
  mapfile -t -O "${#needed[@]}" needed < <(needed_libraries "${packed[@]/#/$build/}" "${needed[@]}")
  cp -L "${needed[@]}" "$folder/lib/"
  cp /usr/include/benchmark/*.h "$folder/include/benchmark/"  # PyTorch's program is built there
  git describe --always --dirty > "$folder/commit"
  XZ_DEFAULTS=-T0 tar -C "$folder" -cJf "$pack/files.tar.xz" .
  du -sh "$folder" "$pack/files.tar.xz"
  rm -rf "$folder"
}

# By Python, since xz need not be there.
unpack() {
  files=build/gpu_unpacked
  if [[ ! -f $files/unpacked || $pack/files.tar.xz -nt $files/unpacked ]]; then
    rm -rf "$files"
    mkdir -p "$files"
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$pack/files.tar.xz" "$files"
    touch "$files/unpacked"
  fi
}

# The folders of cuBLAS, cuDNN and cuFFT as Python's packages have them, with colons between.
python_libraries() {
  python3 -c 'import glob, nvidia; print(":".join(sorted(f for p in nvidia.__path__ for f in glob.glob(p + "/*/lib"))))' \
    2> /dev/null || true
}

find_libraries() {
  local python
  python=$(python_libraries)
  export LD_LIBRARY_PATH="$PWD/$files/lib${python:+:$python}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# check "name" seconds command...: runs it for so long at most, and notes how it ended, so that the rest is seen too. It is
# to end with $expected, 0 if that is not set.
check() {
  local name=$1 limit=$2 begin=$SECONDS status=0 end=passed
  shift 2
  say "$name"
  timeout --kill-after=10 "$limit" "$@" < /dev/null || status=$?
  case $status in
    "${expected:-0}") ;;
    124 | 137) end="stopped after $limit s" ;;
    *) end="failed, with status $status" ;;
  esac
  if [[ $end != passed ]]; then failed+=("$name: $end"); fi
  printf -- '-- %s: %s, %d s\n' "$name" "$end" $((SECONDS - begin))
}

# tests "name" seconds program [names...]: names that no test has are a failure, which Catch2 2 has to be told.
tests() {
  local name=$1 limit=$2 program=$files/$3 strict=()
  shift 3
  if "$program" -w NoTests --list-tags &> /dev/null; then strict=(-w NoTests); fi
  check "$name" "$limit" "$program" "$@" "${strict[@]}"
}

smoke_stage() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || true
  tests "a device computes" 30 "$driver" "a device computes"
  tests "the libraries of the toolkit" 30 "$driver" "a device opens*"
}

operators="CUDA gives what the CPU gives*"
operators_stage() { tests "every operator against the CPU" 60 "$suite" "$operators"; }

driver_stage() {
  tests "the backend's tests" 90 "$driver"
  KEYWAY_NO_CUDA_MEMORY_CACHING=1 tests "the backend's tests without the cache of memory" 90 "$driver"
  KEYWAY_CUDA_CUDNN=0 tests "convolutions without cuDNN" 40 "$driver" "*convolution*"
  KEYWAY_CUDA_ATTENTION_BYTES=3000 tests "attention in blocks" 60 "$driver" "CUDA's attention*"
  KEYWAY_CUDA_ALLOW_TF32=1 tests "convolutions in TF32" 40 "$driver" "a tensor core may round*"
}

# Graphs as CUDA graphs, with NVRTC's kernels; beside the calls they are measured among the figures (train/mlp, chain).
graphs_stage() {
  tests "graphs as CUDA graphs" 120 "$graphs"
  tests "kernels of NVRTC" 60 "$texts"
}

train_stage() {
  tests "training against the CPU" 40 "$training" "training on a CUDA device*"
  check "training" 60 "${keyway[@]}" train --device cuda --steps 300 --sample 0 --file docs/architecture/transforms.md
}

# Of every eighth operator: the driver starts anew for each.
fuzz_stage() {
  # shellcheck disable=SC2016  # these are the inner shell's
  check "boundary calls" 100 bash -c 'n=$1; shift; seq "$n" | xargs -P "$n" -I% "$@" --part %/$((8 * n))' \
    fuzz "$jobs" "${keyway[@]}" fuzz --device cuda --calls 100
}

# Without PyTorch's program there are Keyway's figures alone.
figures_stage() {
  rm -f "$files/bench/bench_torch_cuda"
  check "PyTorch's program" 140 bash tools/bench/torch_cuda.sh "$files"
  check "figures" 300 python3 tools/bench/compare.py --cuda --build "$files" --repetitions 3 --json "$report/figures.json"
}

# Where the compiler is, if nowhere else.
find_sanitizer() {
  command -v compute-sanitizer || PATH=$(dirname "$(realpath "$(command -v nvcc)")") command -v compute-sanitizer
}

# How a program is run under a tool of compute-sanitizer, which looks into Keyway's own kernels alone, without the cache of
# memory, so that it sees where each tensor ends. Errors of the runtime are what some tests provoke.
sanitized() {
  echo env KEYWAY_NO_CUDA_MEMORY_CACHING=1 "$(find_sanitizer)" --tool "$1" --kernel-name kns=keyway --report-api-errors no \
    --print-limit 20 --error-exitcode 99
}

has_sanitizer() {
  if find_sanitizer > /dev/null; then return; fi
  failed+=("$1: compute-sanitizer is not installed")
  return 1
}

# sanitize "name" seconds tool command...
sanitize() {
  local name=$1 limit=$2 by
  if ! has_sanitizer "$name"; then return; fi
  read -ra by < <(sanitized "$3")
  shift 3
  check "$name" "$limit" "${by[@]}" "$@"
}

# sanitize_driver "name" seconds tool [filters...]: the backend's tests, each file's by themselves, several at a time. Of
# those that fail all is shown, and in the end how often the tool found what.
sanitize_driver() {
  local name=$1 limit=$2 folder=$report/$3 by
  if ! has_sanitizer "$name"; then return; fi
  read -ra by < <(sanitized "$3")
  shift 3
  rm -rf "$folder"  # of an earlier run
  mkdir -p "$folder"
  # Catch2 2 ends such a call with the number of tags.
  { "$files/$driver" -# --list-tags "${too_long[@]}" "$@" || true; } | sed -nE 's/.*\[#([^]]+)\].*/\1/p' > "$folder/tags"
  if [[ ! -s $folder/tags ]]; then
    failed+=("$name: no tests are found")
    return
  fi
  # shellcheck disable=SC2016  # these are the inner shell's
  check "$name" "$limit" xargs -a "$folder/tags" -P "$jobs" -I% bash -c \
    'log=$1/%.log; shift; "$@" > "$log" 2>&1 || { cat "$log"; exit 1; }' sanitize "$folder" \
    "${by[@]}" "$files/$driver" -# "[#%]" "${too_long[@]}" "$@"
  cat "$folder"/*.log | grep SUMMARY | sort | uniq -c || true
}

# Hundreds of calls of cuBLASLt, each of which waits for the tool; what kernels of Keyway's own they need, others run too.
too_long=("~CUDA's attention is the CPU's*" "~CUDA's attention without tensor cores is the formula*")
# Without the tests whose kernels are mostly the libraries', and write what others read.
own_kernels=("~*product*" "~*linear*" "~*convolution*" "~*cuDNN*" "~*Fourier*" "~*cuFFT*" "~transforms of*" "~*ecomposition*"
  "~factors of*" "~*quations on*" "~Cholesky*" "~a matrix of a batch*" "~batches*" "~a batch of more*" "~what is added*"
  "~16-bit floats*" "~a device opens*")
# Scores that cuBLASLt wrote. A total with its index is copied with the bytes between them, which nobody set.
set_elsewhere=("~CUDA's attention adds*" "~CUDA's attention without*" "~CUDA's attention of scores*" "~CUDA shares long rows out*" "~CUDA finds the last of equal*")
# Four threads launch at once, and the checkers of races and of unset memory lose track of launches.
launched_at_once=("~backwards whose callers work in different streams*")
# A product of cuBLASLt ends in a fault of the checker of races, which looks at none of its kernels.
not_for_racecheck=("~CUDA's attention without tensor cores adds up*" "${launched_at_once[@]}")
memcheck_stage() {
  expected=99 sanitize "a planted fault" 30 memcheck "$files/$planted"
  sanitize_driver "memory checker, the backend's tests" 240 memcheck
}
memcheck_operators_stage() { sanitize "memory checker, every operator" 240 memcheck "$files/$suite" "$operators"; }
synccheck_stage() { sanitize_driver "barrier checker" 240 synccheck "${own_kernels[@]}"; }
racecheck_stage() {
  expected=99 sanitize "a planted race" 30 racecheck "$files/$planted" race
  sanitize_driver "race checker" 240 racecheck "${own_kernels[@]}" "${not_for_racecheck[@]}"
  sanitize "race checker, products of integers" 60 racecheck "$files/$driver" "products of many tiles*"
}
initcheck_stage() {
  sanitize_driver "checker of unset memory" 240 initcheck "${own_kernels[@]}" "${set_elsewhere[@]}" "${launched_at_once[@]}"
}

result() {
  say "result"
  printf '%s\n' "${stage_times[@]}"
  if ((${#failed[@]} > 0)); then
    printf 'failed: %s\n' "${failed[@]}"
    return 1
  fi
  echo "all passed"
}

# A failed check does not end a stage, nor a stage the next; but without a device the rest is not worth the time.
run_stages() {
  local name
  printf '\n==== %s, %s: %s\n' "$(date)" "$(cat "$files/commit" 2> /dev/null || git describe --always --dirty)" "${stages[*]}"
  for name in "${stages[@]}"; do
    stage "$name" "${name}_stage"
    if [[ ${failed[*]-} == *"a device computes"* ]]; then break; fi
  done
  result
}

read_arguments "$@"
if [[ $mode == packed ]]; then
  stage unpack unpack
  find_libraries
else
  stage build build_stage
fi
if [[ $mode == pack ]]; then
  stage pack pack_stage
  exit
fi
keyway=("$files/$command" ${KEYWAY_EMULATED_CUDA:+--plugin "$KEYWAY_EMULATED_CUDA"})
mkdir -p "$report"
export KEYWAY_TEST_NEEDS_CUDA=1
run_stages 2>&1 | tee -a "$report/report.txt"
