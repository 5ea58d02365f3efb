#!/usr/bin/env bash
# Sets up, builds and trains a character-level transformer. Arguments go to `keyway train`:
#   bash tools/demo.sh                        learns this system's licence texts
#   bash tools/demo.sh --file book.txt --minutes 10 --save book.safetensors
set -euo pipefail
from=$PWD
cd "$(dirname "$0")/.."
root=$PWD
mkdir -p build
source tools/stages.sh

say "set-up"
bash tools/setup.sh
say "build"
build release keyway_command
say "training"
cd "$from"
"$root/build/release/tools/keyway/keyway" train --svg "$root/build/loss.svg" "$@"
