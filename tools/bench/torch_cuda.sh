#!/usr/bin/env bash
# Builds the rows of CUDA devices for the PyTorch that python3 has, without CMake: bench/bench_torch_cuda in the folder
# of a build, or of what tools/gpu_check.sh packed, which has Google Benchmark with it.
#   bash tools/bench/torch_cuda.sh FOLDER
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")/../.."

torch=$(python3 -c 'import torch; print(torch.__path__[0] if torch.version.cuda else "")')
if [[ -z $torch ]]; then
  echo "The PyTorch that python3 has is not one for CUDA." >&2
  exit 1
fi
benchmark=(-lbenchmark)
if [[ -d $folder/include/benchmark ]]; then benchmark=("$folder"/lib/libbenchmark.so*); fi

objects=$folder/bench/torch_cuda
mkdir -p "$objects/include"
ln -sfn "$PWD" "$objects/include/keyway"
compilers=()
for source in bench/main.cpp bench/cuda/{rows,products,training}.cpp; do
  g++ -std=c++20 -O2 -DNDEBUG -DKEYWAY_BENCH_TORCH -w -I"$objects/include" -I"$folder/include" -I"$torch/include" \
    -I"$torch/include/torch/csrc/api/include" -c "$source" -o "$objects/$(basename "$source" .cpp).o" &
  compilers+=($!)
done
for compiler in "${compilers[@]}"; do wait "$compiler"; done
# PyTorch finds the libraries that it needs itself.
g++ "$objects"/{main,rows,products,training}.o "${benchmark[@]}" -pthread -Wl,--unresolved-symbols=ignore-in-shared-libs \
  -Wl,--no-as-needed -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch -ltorch_cpu -ltorch_cuda -lc10 -lc10_cuda \
  -o "$folder/bench/bench_torch_cuda"
