#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/box_by_schema.h>
#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/dispatch/call/leave_boxed_op.h>
#include <keyway/dispatch/call/leave_op.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace keyway::inline v1 {

namespace detail {

namespace {

constexpr std::size_t kLongest = 120;  // characters of one argument, which may be a list of thousands

std::string print(const FunctionSchema& schema, const Stack& arguments) {
  std::string text;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    std::string value = arguments[i].is_tensor() ? describe(arguments[i].to_tensor()) : to_string(arguments[i]);
    if (value.size() > kLongest) value = value.substr(0, kLongest) + "...";
    text += text.empty() ? "" : ", ";
    text += std::string(schema.arguments()[i].name()) + " = " + value;
  }
  return text;
}

// Whether the error of the operator is that of who calls it: it checks elements in its place.
bool is_check(const OperatorEntry& op) { return op.info().name == "keyway::_assert_async"; }

// Gives the arguments boxed, if they are to be listed: those of the innermost call alone are.
template <typename Boxed>
void note(Error& error, const OperatorEntry& op, const Boxed& boxed) {
  if (is_check(op)) return;
  if (!error.op().empty()) {
    // Of an error of linear algebra the first name is that of the function that users call, or of the operator that
    // they would look up: a graph that has only parts of that function gives the same text.
    if (error.kind() != ErrorKind::LinAlg) error.leave_op(op.short_name());
    return;
  }
  const Stack arguments = boxed();
  // A kernel finds that it cannot take an object, and does not know the argument's name.
  if (error.kind() == ErrorKind::Type && takes_objects(op.schema())) {
    std::string wrong = wrong_argument(op, arguments);
    if (!wrong.empty()) error = Error(ErrorKind::Type, std::move(wrong), error.file(), error.line());
  }
  error.leave_op(op.short_name(), print(op.schema(), arguments));
}

template <typename Boxed>
[[noreturn]] void leave(const OperatorEntry& op, const Boxed& boxed) {
  try {
    throw;
  } catch (Error& error) {
    note(error, op, boxed);
    throw;                              // it may be of a class of its own
  } catch (const std::length_error&) {  // of a container of the standard library, for what no memory could hold
    Error error(ErrorKind::OutOfMemory, "the operator would need more memory than can be addressed", __FILE__,
                __LINE__);
    note(error, op, boxed);
    throw error;
  } catch (const std::bad_alloc&) {
    Error error(ErrorKind::OutOfMemory, "memory of the program's own is used up", __FILE__, __LINE__);
    note(error, op, boxed);
    throw error;
  }
}

}  // namespace

void leave_op(const OperatorEntry& op, const void* const* arguments) {
  leave(op, [&] {
    Stack boxed;
    for (std::size_t i = 0; const Argument argument : op.schema().arguments())
      boxed.push_back(box_by_schema(argument.type(), arguments[i++]));
    return boxed;
  });
}

}  // namespace detail

void leave_boxed_op(const OperatorEntry& op, const Stack& arguments) {
  detail::leave(op, [&] { return arguments; });
}

}  // namespace keyway::inline v1
