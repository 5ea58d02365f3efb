#!/usr/bin/env bash
# Builds the benchmarks and prints every CPU row beside PyTorch's, in one run.
#   bash tools/bench.sh [option...]     options of tools/bench/compare.py, e.g. --filter '^add' or
#                                       --builds --json bench/results/2026-11-28-epyc-cpu.json
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
source tools/stages.sh

bash tools/setup.sh --bench
peer=build/peer/bin/python
if [[ -x $peer ]]; then
  options=("-DKEYWAY_TORCH=$("$peer" -c 'import importlib.util; print(importlib.util.find_spec("torch").submodule_search_locations[0])')")
fi
build bench
python3 tools/bench/compare.py "$@"
