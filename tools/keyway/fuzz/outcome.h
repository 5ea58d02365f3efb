// Outcome: what became of one call, and whether that is right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::inline v1::tools {

enum class Verdict : std::uint8_t {
  Returned,
  NotServed,  // the operator has no kernel for these arguments
  Refused,    // keyway::Error that says what is wrong
  // Failures from here on.
  ForeignException,  // an exception other than keyway::Error
  NoOperator,        // an error without the operator's name
  NoArgument,        // an error about an argument that names none
  InternalError,     // a broken invariant of the library
  WrongResult,       // metadata that contradicts itself or lies outside the storage
  MetaDiffers,       // Meta gives another shape, dtype or stride, or an error
  ArgumentChanged,   // an argument that is not written to, or any after an error
  Differs,           // from what the CPU gives for the same arguments
  GradientFails,     // a result with a graph whose backward fails, or gives what is no gradient
  BreaksSchema,      // a kernel writes to, or gives back, other memory than its schema says
  Crash,
  Hang,
  Leak,
};
inline constexpr std::size_t kVerdicts = static_cast<std::size_t>(Verdict::Leak) + 1;

constexpr bool is_failure(Verdict verdict) { return verdict > Verdict::Refused; }

constexpr std::string_view to_string(Verdict verdict) {
  constexpr std::string_view kNames[kVerdicts] = {"returned",
                                                  "not served",
                                                  "refused",
                                                  "foreign exception",
                                                  "error without operator",
                                                  "error without argument",
                                                  "internal error",
                                                  "wrong result",
                                                  "Meta differs",
                                                  "argument changed",
                                                  "differs",
                                                  "gradient fails",
                                                  "breaks its schema",
                                                  "crash",
                                                  "hang",
                                                  "leak"};
  return kNames[static_cast<std::size_t>(verdict)];
}

struct Outcome {
  Verdict verdict = Verdict::Returned;
  std::string text;  // of the error, or what is wrong
};

}  // namespace keyway::inline v1::tools
