#include <keyway/codegen/driver.h>

#include <cstdio>

int main(int argc, char** argv) {
  const auto result = keyway::run_codegen({argv + 1, argv + argc});
  std::fputs(result.out.c_str(), stdout);
  std::fputs(result.err.c_str(), stderr);
  return std::fflush(stdout) == 0 ? result.exit_code : 2;
}
