#!/usr/bin/env bash
# Formats all C++ files and schema files as checks/style wants them.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard '*.h' '*.cuh' '*.cpp' '*.cu' ':!:*golden*' |
  xargs -0 clang-format-14 -i
git ls-files -z --cached --others --exclude-standard 'ops/schemas/*.json' ':!:*op.schema.json' |
  xargs -0 python3 tools/checks/format_entries.py
