// Macros: names for texts, lists and objects that recur in a schema file.
//
//   "macros": { "square(A)": ["{A}.dim() >= 2", "{A}.size(-2) == {A}.size(-1)"] }
//   "requires": ["{square(self)}", "upper || self.is_complex()"]
//
// `{name}` or `{name(x, y)}` in a string stands for the macro's value. A string that is nothing else is replaced by the
// value, whatever its kind: a list goes into the list around it, a null removes the key or the list item whose value
// it is. Within a text the value is a text too. Every byte of a replaced text keeps its place, so that errors point at
// what is wrong.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/json/json_value.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// A name with a value in which nothing is left to replace: an argument of a macro, or a word of an entry template.
struct LocalMacro {
  std::string name;
  JsonValue value;
  bool used = false;
};

struct MacroUse;

class Macros {
 public:
  // Those of a file; `list` may be null. Reports what is wrong with their names. Refers to `list`.
  Macros(const JsonValue* list, const Report& report);

  // The value with all macros replaced; `locals` are known in it besides those of the file, and are marked as used.
  // Reports uses of what there is not to `report`; what is wrong stays as it was written.
  JsonValue expand(const JsonValue& value, std::vector<LocalMacro>& locals, const Report& report);

  // Why no local macro can have this name, or "".
  std::string name_fault(std::string_view name) const;
  void report_unused(const Report& report) const;

 private:
  struct Macro {
    LocatedText key;
    std::string name;
    std::vector<std::string> parameters;
    const JsonValue* value;
    bool used = false;
  };
  // What may be used at a place: the first `macros` macros of the file, and these locals.
  struct Scope {
    std::size_t macros;
    std::vector<LocalMacro>& locals;
    const Report& report;
    int depth;
  };

  std::optional<Macro> read(const JsonMember& member, const Report& report) const;
  JsonValue expand(const JsonValue& value, const Scope& scope);
  JsonValue expand_list(const JsonValue& list, const Scope& scope);
  JsonValue expand_object(const JsonValue& object, const Scope& scope);
  LocatedText expand_text(const LocatedText& text, const Scope& scope);
  JsonValue value_of(const MacroUse& use, const LocatedText& text, const Scope& scope);
  std::optional<JsonValue> value_in_file(const MacroUse& use, const LocatedText& text, const Scope& scope);
  JsonValue spend(JsonValue value, Place place, const Report& report);

  std::vector<Macro> macros_;
  std::size_t spent_ = 0;  // bytes that macros became so far
};

// A text that is written as a list of strings, so that no line is long: its parts with blanks between them. What is no
// list of strings stays as it is.
JsonValue joined_text(JsonValue value);

}  // namespace keyway::inline v1
