#!/usr/bin/env bash
# Builds the site of the documentation, with search and the references of operators, Python and C++, into
# build/docs/site. Installs what is missing and builds the generator, but not the library.
#   bash tools/docs.sh [--serve]     and shows it at port 8000
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/docs
source tools/stages.sh

case ${1-} in
  "" | --serve) mode=${1-} ;;
  *) echo "usage: bash tools/docs.sh [--serve]" >&2; exit 2 ;;
esac

# The generator, where the presets have it too, and the text and stubs that it writes.
generate() {
  cmake -S . -B build/codegen -G Ninja -DKEYWAY_ONLY_CODEGEN=ON > build/docs/configure.log 2>&1 || { cat build/docs/configure.log; return 1; }
  cmake --build build/codegen --target keyway-codegen -j "$jobs"
  rm -rf build/docs/generated
  build/codegen/codegen/keyway-codegen --out build/docs/generated/keyway ops/schemas
}

say "set-up"
bash tools/setup.sh --docs
say "generator"
generate
say "pages"
python3 tools/docs/site.py
doxygen build/docs/Doxyfile
say "site"
NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build --quiet --strict -f build/docs/mkdocs.yml
echo "build/docs/site/index.html"
if [[ $mode == --serve ]]; then
  python3 -m http.server --bind 127.0.0.1 --directory build/docs/site 8000
fi
