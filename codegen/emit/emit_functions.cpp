#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/public_api.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::string function_text(const PublicFunction& function) {
  return public_comment(function, "", false) +
         Doc::list(fmt::format("inline {} {}(", function.result, function.name), declared(function.parameters), ") {")
             .lines() +
         public_body(function) + "}\n";
}

}  // namespace

std::string emit_functions(const Family& family) {
  std::string out;
  const Op* last = nullptr;
  for (const PublicFunction& function : public_functions(family)) {
    if (function.op != last) out += "\n";
    out += function_text(function);
    last = function.op;
  }
  return header_text(file_banner(family),
                     {"keyway/dispatch/call/call.h", "keyway/dispatch/call/user_kernel.h", "keyway/ops/adapters.h",
                      "keyway/tensor.h", own_header(family, "ops/{}_entries.h")},
                     family, "", out);
}

std::string emit_umbrella(const std::vector<Family>& families) {
  const bool of_library = !families.front().library.empty();
  std::vector<std::string> paths = {of_library ? "keyway/ops/all.h" : "keyway/tensor.h"};
  for (const Family& family : families) paths.push_back(own_header(family, "ops/{}.h"));
  return file_banner(families) + "// All operators.\n#pragma once\n\n" + includes(std::move(paths));
}

}  // namespace keyway::inline v1
