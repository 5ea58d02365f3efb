#!/usr/bin/env bash
# Formats all C++ files as checks/style wants them.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard '*.h' '*.cuh' '*.cpp' '*.cu' ':!:*golden*' |
  xargs -0 clang-format-14 -i
