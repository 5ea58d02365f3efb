#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/box_by_schema.h>
#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/dispatch/call/leave_op.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace keyway::inline v1::detail {

namespace {

constexpr std::size_t kLongest = 120;  // characters of one argument, which may be a list of thousands

std::string print(const FunctionSchema& schema, const void* const* arguments) {
  std::string text;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const IValue boxed = box_by_schema(schema.arguments()[i].type(), arguments[i]);
    std::string value = boxed.is_tensor() ? describe(boxed.to_tensor()) : to_string(boxed);
    if (value.size() > kLongest) value = value.substr(0, kLongest) + "...";
    text += text.empty() ? "" : ", ";
    text += std::string(schema.arguments()[i].name()) + " = " + value;
  }
  return text;
}

// Of a call with types, what of its objects is of another class than the schema names; empty if that is not so. A
// kernel finds that it cannot take an object, and does not know the argument's name.
std::string wrong_object(const OperatorEntry& op, const void* const* arguments) {
  if (!takes_objects(op.schema())) return {};
  Stack boxed;
  for (std::size_t i = 0; const Argument argument : op.schema().arguments())
    boxed.push_back(box_by_schema(argument.type(), arguments[i++]));
  return wrong_argument(op, boxed);
}

// Whether the error of the operator is that of who calls it: it checks elements in its place.
bool is_check(const OperatorEntry& op) { return op.info().name == "keyway::_assert_async"; }

void note(Error& error, const OperatorEntry& op, const void* const* arguments) {
  // Of an error of linear algebra the first name is that of the function that users call, or of the operator that they
  // would look up: a graph that has only parts of that function gives the same text.
  if (is_check(op) || (error.kind() == ErrorKind::LinAlg && !error.op().empty())) return;
  const bool innermost = error.op().empty();  // the only one whose arguments are listed
  if (innermost && error.kind() == ErrorKind::Type) {
    std::string wrong = wrong_object(op, arguments);
    if (!wrong.empty()) error = Error(ErrorKind::Type, std::move(wrong), error.file(), error.line());
  }
  error.leave_op(op.short_name(), innermost ? print(op.schema(), arguments) : std::string());
}

}  // namespace

void leave_op(const OperatorEntry& op, const void* const* arguments) {
  try {
    throw;
  } catch (Error& error) {
    note(error, op, arguments);
    throw;                              // it may be of a class of its own
  } catch (const std::length_error&) {  // of a container of the standard library, for what no memory could hold
    Error error(ErrorKind::OutOfMemory, "the operator would need more memory than can be addressed", __FILE__,
                __LINE__);
    note(error, op, arguments);
    throw error;
  } catch (const std::bad_alloc&) {
    Error error(ErrorKind::OutOfMemory, "memory of the program's own is used up", __FILE__, __LINE__);
    note(error, op, arguments);
    throw error;
  }
}

}  // namespace keyway::inline v1::detail
