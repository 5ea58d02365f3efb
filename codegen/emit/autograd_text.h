// The parts of autograd/<family>.cpp.
#pragma once

#include <keyway/codegen/emit/autograd_plan.h>
#include <keyway/codegen/model/model.h>
#include <keyway/codegen/model/variants.h>

#include <string>
#include <string_view>

namespace keyway::inline v1 {

// Stands for "#line" with the place in the generated file itself, which is known when the file is complete.
inline constexpr std::string_view kLineBack = "#line back\n";

// autograd_node.cpp: the struct of an operator's node. `file` is the schema file, for its formulas.
std::string node_text(const Op& op, const AutogradPlan& plan, const std::string& file);

// autograd_kernels.cpp: the kernels of an overload at Autograd and ADInplaceOrView, those of them that it has. What
// records a call is a function of its own, before them, in the unnamed namespace.
std::string recorder_text(const Op& op, const AutogradPlan& plan, const Overload& overload);
std::string kernel_texts(const Op& op, const AutogradPlan& plan, const Overload& overload);
std::string kernel_declarations(const Op& op, const Overload& overload);
// Whether a call of the overload can be recorded: an out= call cannot.
bool has_recorder(const Op& op, const Overload& overload);

}  // namespace keyway::inline v1
