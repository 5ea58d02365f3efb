// What an entry comes to: an operator of the model as an entry that says everything.
#pragma once

#include <keyway/codegen/model/model.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// The entry of an operator in JSON, with the words of its template and macros filled in, calls named, and with what the
// generator takes where an entry says nothing: recipe, rule, variants, out= overload, rules of vmap and forward mode.
// An entry that is written so means the same.
std::string show_entry(const Op& op);

// The entries of the operators that are called `name`, "add" or "add.Tensor"; empty if there is none.
std::string show_entries(const std::vector<Family>& families, std::string_view name);

}  // namespace keyway::inline v1
