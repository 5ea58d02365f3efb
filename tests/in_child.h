// in_child(f): what a forked child does.
#pragma once

#include <keyway/tests/catch.h>

#include <sys/wait.h>
#include <unistd.h>

namespace keyway::inline v1::testing {

// Runs f in a forked child, and says whether it returned true within so many seconds.
template <typename F>
bool in_child(F f, unsigned seconds = 10) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(seconds);
    _exit(f() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace keyway::inline v1::testing
