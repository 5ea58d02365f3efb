#!/usr/bin/env bash
# Installs what is missing of tools/packages.txt, and python/requirements.txt into a virtual environment, build/venv. Does
# nothing, quickly, where all is there.
#   bash tools/setup.sh [--bench] [--docs] [--nightly]     also what the benchmarks, the site of the documentation or
#                                                          tools/nightly.sh need; with --bench PyTorch's newest release
#                                                          too (several GB), in an environment of its own, build/peer
set -euo pipefail
cd "$(dirname "$0")/.."

groups=""
for argument in "$@"; do
  case $argument in
    --bench | --docs | --nightly) groups+=" ${argument#--}" ;;
    *) echo "usage: bash tools/setup.sh [--bench] [--docs] [--nightly]" >&2; exit 2 ;;
  esac
done

wanted() {  # the packages of the list that belong to no group or to one asked for
  while read -r first second; do
    case $first in
      "" | "#"*) ;;
      *) if [[ -z $second ]]; then echo "$first"; elif [[ " $groups " == *" $first "* ]]; then echo "$second"; fi ;;
    esac
  done < tools/packages.txt
}

install_packages() {
  if ! command -v apt-get > /dev/null; then
    echo "setup: no apt-get here; see to it that the equivalents of these are installed:" >&2
    wanted >&2
    return
  fi

  local installed missing as_root=()
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
  mapfile -t missing < <(wanted | grep -vxF -f <(echo "$installed") || true)
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi

  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo > /dev/null; then
      echo "setup: these packages are missing; install them as root: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"; }

  echo "setup: installing ${missing[*]}"
  apt update
  apt install -y --no-install-recommends "${missing[@]}" > /dev/null
}

# make_environment FOLDER REQUIREMENTS: the system's Python with the packages that the file names; made anew when that changes.
make_environment() {
  local folder=$1 requirements=$2 stamp=$1/requirements.sum sum python=/usr/bin/python3
  sum=$(cksum < "$requirements")
  if [[ -f $stamp && $(< "$stamp") == "$sum" ]]; then
    return
  fi
  if [[ ! -x $python ]]; then
    python=python3
  fi
  echo "setup: installing $requirements into $folder"
  rm -rf "$folder"
  "$python" -m venv "$folder" &&
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" &&
    echo "$sum" > "$stamp"
}

# build/peer: PyTorch's newest release. One that is there already is brought up to date.
make_peer() {
  make_environment build/peer bench/requirements.txt &&
    build/peer/bin/python -m pip install --quiet --disable-pip-version-check --upgrade -r bench/requirements.txt
}

install_packages
make_environment build/venv python/requirements.txt ||
  echo "setup: that failed: the Python package is left out of the builds" >&2
if [[ $groups == *" bench"* ]]; then
  make_peer || echo "setup: that failed: the benchmarks run without PyTorch, or with the one that is in build/peer" >&2
fi
if [[ $groups == *" docs"* ]]; then
  make_environment build/docs-venv docs/site/requirements.txt
fi
