#include <keyway/core/base/error.h>

#include <atomic>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>

namespace keyway::inline v1 {

namespace {
// What is read as text of C ends at a zero byte: a name that was given with one is written as Python would write it.
std::string without_zeros(std::string text) {
  for (std::size_t i = 0; (i = text.find('\0', i)) != std::string::npos; i += 4) text.replace(i, 1, "\\x00");
  return text;
}
}  // namespace

// Shared by copies of an error, and by threads that rethrow one: std::rethrow_exception copies nothing. So all that was
// ever given out stays as it is.
struct Error::Data {
  Data(ErrorKind k, std::string said, const char* f, int l)
      : kind(k), message(without_zeros(std::move(said))), file(f), line(l) {
    compose();
  }

  const ErrorKind kind;
  const std::string message;
  const char* const file;
  const int line;

  std::mutex mutex;   // guards what follows
  std::string op;     // set once, before op_known is
  std::string given;  // arguments of `op`, if the text is to have them
  std::string path;   // operators that called `op`, innermost first
  std::string last_left;
  std::deque<std::string> texts;
  std::atomic<const std::string*> text{nullptr};  // the last of them
  std::atomic<bool> op_known{false};

  void compose() {
    std::string all = op.empty() ? message : fmt::format("{}: {}", op, message);
    if (!given.empty()) all += fmt::format("; given {}", given);
    if (!path.empty()) all += fmt::format(" (called from {})", path);
    text.store(&texts.emplace_back(std::move(all)), std::memory_order_release);
  }
};

Error::Error(ErrorKind kind, std::string message, const char* file, int line)
    : data_(std::make_shared<Data>(kind, std::move(message), file, line)) {}
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;
Error::~Error() = default;

const char* Error::what() const noexcept { return data_->text.load(std::memory_order_acquire)->c_str(); }
ErrorKind Error::kind() const { return data_->kind; }
std::string_view Error::message() const { return data_->message; }
std::string_view Error::op() const {
  return data_->op_known.load(std::memory_order_acquire) ? std::string_view(data_->op) : std::string_view();
}
const char* Error::file() const { return data_->file; }
int Error::line() const { return data_->line; }

void Error::leave_op(std::string_view op, std::string_view given) {
  const std::lock_guard lock(data_->mutex);
  if (data_->op.empty()) {
    data_->op = op;
    data_->op_known.store(true, std::memory_order_release);
    data_->given = without_zeros(std::string(given));
  } else {
    if (data_->last_left == op) return;
    data_->path += data_->path.empty() ? "" : ", ";
    data_->path += op;
  }
  data_->last_left = op;
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
