#!/usr/bin/env bash
# Installs what is missing of tools/packages.txt, and python/requirements.txt into a virtual environment, build/venv. Does
# nothing, quickly, where all is there.
#   bash tools/setup.sh [--bench] [--nightly]     also what the benchmarks or tools/nightly.sh need
set -euo pipefail
cd "$(dirname "$0")/.."

groups=""
for argument in "$@"; do
  case $argument in
    --bench | --nightly) groups+=" ${argument#--}" ;;
    *) echo "usage: bash tools/setup.sh [--bench] [--nightly]" >&2; exit 2 ;;
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

# build/venv: the system's Python with what python/requirements.txt names; made anew when that changes.
make_python_environment() {
  local stamp=build/venv/requirements.sum sum python=/usr/bin/python3
  sum=$(cksum < python/requirements.txt)
  if [[ -f $stamp && $(< "$stamp") == "$sum" ]]; then
    return
  fi
  if [[ ! -x $python ]]; then
    python=python3
  fi
  echo "setup: installing python/requirements.txt into build/venv"
  rm -rf build/venv
  if "$python" -m venv build/venv &&
    build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements.txt; then
    echo "$sum" > "$stamp"
  else
    echo "setup: that failed: the Python package is left out of the builds" >&2
  fi
}

install_packages
make_python_environment
