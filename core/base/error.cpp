#include <keyway/core/base/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace keyway::inline v1 {

namespace {
// What is read as text of C ends at a zero byte: a name that was given with one is written as Python would write it.
std::string without_zeros(std::string text) {
  for (std::size_t i = 0; (i = text.find('\0', i)) != std::string::npos; i += 4) text.replace(i, 1, "\\x00");
  return text;
}
}  // namespace

struct Error::Data {
  ErrorKind kind;
  std::string message;
  std::string op;
  std::string given;  // arguments of `op`, if the text is to have them
  std::string path;   // operators that called `op`, innermost first
  std::string what;
  const char* file;
  int line;

  void compose() {
    what = op.empty() ? message : fmt::format("{}: {}", op, message);
    if (!given.empty()) what += fmt::format("; given {}", given);
    if (!path.empty()) what += fmt::format(" (called from {})", path);
  }
};

Error::Error(ErrorKind kind, std::string message, const char* file, int line)
    : data_(std::make_shared<Data>(Data{kind, without_zeros(std::move(message)), {}, {}, {}, {}, file, line})) {
  data_->compose();
}
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;
Error::~Error() = default;

const char* Error::what() const noexcept { return data_->what.c_str(); }
ErrorKind Error::kind() const { return data_->kind; }
std::string_view Error::message() const { return data_->message; }
std::string_view Error::op() const { return data_->op; }
const char* Error::file() const { return data_->file; }
int Error::line() const { return data_->line; }

void Error::leave_op(std::string_view op, std::string_view given) {
  if (data_->op.empty()) {
    data_->op = op;
    data_->given = without_zeros(std::string(given));
  } else if (data_->op != op) {
    if (!data_->path.empty()) data_->path += ", ";
    data_->path += op;
  }
  data_->compose();
}

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Value: return "value error";
    case ErrorKind::Type: return "type error";
    case ErrorKind::Dtype: return "dtype error";
    case ErrorKind::Index: return "index error";
    case ErrorKind::NotImplemented: return "not implemented";
    case ErrorKind::OutOfMemory: return "out of memory";
    case ErrorKind::Registration: return "registration error";
    case ErrorKind::Autograd: return "autograd error";
    case ErrorKind::Parse: return "parse error";
    case ErrorKind::LinAlg: return "linear algebra error";
    case ErrorKind::Internal: return "internal error";
  }
  return "error";
}

std::string FormatArg::str() const {
  switch (kind_) {
    case Kind::Bool: return u_.i != 0 ? "True" : "False";
    case Kind::Int: return fmt::to_string(u_.i);
    case Kind::Uint: return fmt::to_string(u_.u);
    case Kind::Double: return fmt::to_string(u_.d);
    case Kind::Text: return std::string(static_cast<const char*>(u_.p), n_);
    case Kind::Ints: {
      const auto* ints = static_cast<const std::int64_t*>(u_.p);
      return fmt::format("[{}]", fmt::join(ints, ints + n_, ", "));
    }
    case Kind::Custom: return print_(u_.p);
  }
  return {};
}

std::string format(std::string_view text, ArrayRef<FormatArg> args) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char following = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '{' && following == '}') {
      out += next < args.size() ? args[next].str() : "{}";
      ++next;
      ++i;
    } else {
      out += c;
      if ((c == '{' || c == '}') && following == c) ++i;
    }
  }
  return out;
}

namespace detail {
void fail(ErrorKind kind, const char* file, int line, std::string_view text, ArrayRef<FormatArg> args) {
  throw Error(kind, format(text, args), file, line);
}
}  // namespace detail

}  // namespace keyway::inline v1
