# shellcheck shell=bash
# What the commands of tools/ share: test.sh, nightly.sh, bench.sh, demo.sh and gpu_check.sh. Sourced, not run; expects the working directory to be the tree's root.

jobs=${KEYWAY_JOBS:-$(nproc)}
tests_run=0
tests_failed=0
stage_times=()
launcher=()  # what the programs of a stage are started through
options=()   # what a stage configures with beside its preset

# say "text": a heading between stages.
say() { printf '\n== %s\n' "$*"; }

# stage name command...: runs a command (a function, mostly) and notes how long it took.
stage() {
  local name=$1 begin=$SECONDS
  shift
  say "$name"
  "$@"
  stage_times+=("$(printf '%-10s %4d s' "$name" $((SECONDS - begin)))")
}

# configure preset: says nothing unless it fails.
configure() {
  cmake --preset "$1" "${options[@]}" < /dev/null > "build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }
}

# build preset [target...]
build() {
  local preset=$1
  shift
  configure "$preset"
  "${launcher[@]}" cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} < /dev/null
}

# run_tests preset [ctest option...]: adds to the totals; failed tests do not end the stage, so that all are seen.
run_tests() {
  local preset=$1 log=build/$1.test.log
  shift
  "${launcher[@]}" ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" < /dev/null 2>&1 | tee "$log" |
    grep -vE '% tests passed, |^ +Start +[0-9]+: ' || true
  local closing
  closing=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log") || { echo "ctest came to no end"; return 1; }
  tests_failed=$((tests_failed + ${closing%% *}))
  tests_run=$((tests_run + ${closing##* }))
}

# boundary_calls preset count: so many against every operator, which counts as one test. An allocation that
# the system cannot serve is to be an error of the call. Without sanitizers too: what they lay around memory hides what a wild read finds.
boundary_calls() {
  local part parts=()
  for ((part = 1; part <= jobs; ++part)); do
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
      "build/$1/tools/keyway/keyway" fuzz --calls "$2" --part "$part/$jobs" < /dev/null &
    parts+=($!)
  done
  for part in "${parts[@]}"; do wait "$part"; done
  tests_run=$((tests_run + 1))
}

# The launcher for ThreadSanitizer, which in g++ 12 cannot map its shadow where the kernel randomises many address bits.
fixed_addresses() {
  if setarch --addr-no-randomize true 2> /dev/null; then echo setarch --addr-no-randomize; fi
}

# Prints the times and one closing line of ctest's form over all stages; fails if a test did.
finish() {
  if [[ ${#stage_times[@]} -gt 1 ]]; then
    say "times"
    printf '%s\n' "${stage_times[@]}"
  fi
  printf '\n%d%% tests passed, %d tests failed out of %d\n' \
    $((tests_run == 0 ? 0 : 100 * (tests_run - tests_failed) / tests_run)) "$tests_failed" "$tests_run"
  [[ $tests_failed -eq 0 && $tests_run -gt 0 ]]
}
