// Recursive descent, one function a rule of the grammar. Recursion is bounded twice: Depth counts open rules
// while the text is read, make_expr the height of what has been built (a + b + c ... is deep without being
// nested).
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/token.h>

#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace keyway::inline v1 {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokenize(text)) {}

  ExprPtr whole() {
    ExprPtr expr = peek_name("let") && tokens_[at_ + 1].kind == TokenKind::Name ? let() : choice();
    if (peek().kind != TokenKind::End) fail_at(peek(), "expected the end of the expression");
    return expr;
  }

 private:
  // Counts the rules that are open.
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxExprDepth)
        throw ExprError(parser_.peek().offset, "nested more than {} deep", kMaxExprDepth);
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };

  const Token& peek() const { return tokens_[at_]; }
  static bool is_symbol(const Token& token, std::string_view text) {
    return token.kind == TokenKind::Symbol && token.text == text;
  }
  bool peek_symbol(std::string_view text) const { return is_symbol(peek(), text); }
  bool peek_name(std::string_view text) const { return peek().kind == TokenKind::Name && peek().text == text; }
  const Token& take() {
    const Token& token = tokens_[at_];
    if (token.kind != TokenKind::End) ++at_;
    return token;
  }
  bool accept(std::string_view symbol) {
    if (!peek_symbol(symbol)) return false;
    take();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail_at(peek(), "expected '" + std::string(symbol) + "'");
  }
  template <typename Op>
  std::optional<Op> accept_op(std::initializer_list<Op> ops) {
    for (const Op op : ops)
      if (accept(to_string(op))) return op;
    return std::nullopt;
  }

  [[noreturn]] static void fail_at(const Token& token, std::string_view expected) {
    if (token.kind == TokenKind::End) throw ExprError(token.offset, "{}, but the text ends here", expected);
    throw ExprError(token.offset, "{}, but found {}", expected, in_quotes(token.text));
  }

  std::string name(std::string_view what) {
    if (peek().kind != TokenKind::Name || is_reserved(peek().text))
      fail_at(peek(), "expected the name of " + std::string(what));
    return std::string(take().text);
  }
  static bool is_reserved(std::string_view name) {
    return name == "None" || name == "True" || name == "False" || name == "in" || name == "let";
  }

  ExprPtr let() {
    const std::size_t offset = take().offset;
    std::string bound = name("a value");
    expect("=");
    return make_expr(LetExpr{std::move(bound), choice()}, offset);
  }

  ExprPtr choice() {
    const Depth depth(*this);
    ExprPtr condition = either();
    if (!peek_symbol("?")) return condition;
    const std::size_t offset = take().offset;
    ExprPtr yes = choice();
    expect(":");
    return make_expr(ChoiceExpr{std::move(condition), std::move(yes), choice()}, offset);
  }

  // One level of operators that group to the left.
  ExprPtr binary(std::initializer_list<BinaryOp> ops, ExprPtr (Parser::*operand)()) {
    ExprPtr left = (this->*operand)();
    for (;;) {
      const std::size_t offset = peek().offset;
      const auto op = accept_op(ops);
      if (!op) return left;
      left = make_expr(BinaryExpr{*op, left, (this->*operand)()}, offset);
    }
  }
  ExprPtr either() { return binary({BinaryOp::Or}, &Parser::both); }
  ExprPtr both() { return binary({BinaryOp::And}, &Parser::comparison); }
  ExprPtr union_() { return binary({BinaryOp::Union}, &Parser::sum); }
  ExprPtr sum() { return binary({BinaryOp::Add, BinaryOp::Subtract}, &Parser::product); }
  ExprPtr product() { return binary({BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder}, &Parser::prefix); }

  ExprPtr comparison() {
    ExprPtr first = union_();
    const std::size_t offset = peek().offset;
    if (peek_name("in")) {
      take();
      expect("{");
      auto choices = list("}");
      if (choices.empty()) throw ExprError(offset, "the set after 'in' is empty");
      return make_expr(InExpr{std::move(first), std::move(choices)}, offset);
    }
    CompareExpr chain{{std::move(first)}, {}};
    while (const auto op = accept_op({CompareOp::Equal, CompareOp::NotEqual, CompareOp::Less, CompareOp::LessEqual,
                                      CompareOp::Greater, CompareOp::GreaterEqual})) {
      chain.ops.push_back(*op);
      chain.operands.push_back(union_());
    }
    if (chain.ops.empty()) return chain.operands.front();
    return make_expr(std::move(chain), offset);
  }

  ExprPtr prefix() {
    const Depth depth(*this);
    const std::size_t offset = peek().offset;
    if (accept("-")) return make_expr(UnaryExpr{UnaryOp::Negate, prefix()}, offset);
    if (accept("!")) return make_expr(UnaryExpr{UnaryOp::Not, prefix()}, offset);
    return postfix();
  }

  ExprPtr postfix() {
    ExprPtr object = primary();
    for (;;) {
      if (accept(".")) {
        const std::size_t offset = peek().offset;
        std::string method = name("a method");
        expect("(");
        object = make_expr(MethodExpr{std::move(object), std::move(method), arguments()}, offset);
      } else if (peek_symbol("[")) {
        object = subscript(std::move(object));
      } else {
        return object;
      }
    }
  }

  ExprPtr subscript(ExprPtr object) {
    const std::size_t offset = take().offset;
    ExprPtr begin = peek_symbol(":") ? nullptr : choice();
    if (begin && accept("]")) return make_expr(IndexExpr{std::move(object), std::move(begin)}, offset);
    expect(":");
    ExprPtr end = peek_symbol("]") ? nullptr : choice();
    expect("]");
    return make_expr(SliceExpr{std::move(object), std::move(begin), std::move(end)}, offset);
  }

  ExprPtr primary() {
    const Token& token = take();
    switch (token.kind) {
      case TokenKind::Integer: return make_expr(IntExpr{number_of<std::int64_t>(token, "64 bits")}, token.offset);
      case TokenKind::Real:
        return make_expr(FloatExpr{number_of<double>(token, "a double"), std::string(token.text)}, token.offset);
      case TokenKind::String: return make_expr(StringExpr{std::string(token.text)}, token.offset);
      case TokenKind::Name: return named(token);
      case TokenKind::Symbol:
        if (token.text == "[") return make_expr(ListExpr{list("]")}, token.offset);
        if (token.text == "(") return parenthesised(token.offset);
        break;
      case TokenKind::End: break;
    }
    fail_at(token, "expected a value");
  }

  // The number that a token spells, if it fits.
  template <typename Number>
  static Number number_of(const Token& token, std::string_view room) {
    Number value = 0;
    const auto result = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (result.ec != std::errc()) throw ExprError(token.offset, "this number does not fit in {}", room);
    return value;
  }

  ExprPtr named(const Token& token) {
    if (token.text == "None") return make_expr(NoneExpr{}, token.offset);
    if (token.text == "True" || token.text == "False") return make_expr(BoolExpr{token.text == "True"}, token.offset);
    if (is_reserved(token.text)) fail_at(token, "expected a value");
    std::string name(token.text);
    if (accept("(")) return make_expr(CallExpr{std::move(name), arguments()}, token.offset);
    return make_expr(NameExpr{std::move(name)}, token.offset);
  }

  // Behind "(": one value in parentheses is that value; a comma makes a tuple.
  ExprPtr parenthesised(std::size_t offset) {
    std::vector<ExprPtr> items;
    bool comma = false;
    while (!accept(")")) {
      if (!items.empty()) {
        expect(",");
        comma = true;
        if (accept(")")) break;
      }
      items.push_back(choice());
    }
    if (items.size() == 1 && !comma) return items.front();
    return make_expr(TupleExpr{std::move(items)}, offset);
  }

  // Values up to the closing symbol.
  std::vector<ExprPtr> list(std::string_view close) {
    std::vector<ExprPtr> items;
    while (!accept(close)) {
      if (!items.empty()) expect(",");
      items.push_back(choice());
    }
    return items;
  }

  // Behind "(".
  std::vector<CallArgument> arguments() {
    std::vector<CallArgument> out;
    while (!accept(")")) {
      if (!out.empty()) expect(",");
      CallArgument argument;
      const std::size_t offset = peek().offset;
      if (peek().kind == TokenKind::Name && is_symbol(tokens_[at_ + 1], "=")) {
        argument.keyword = name("an argument");
        take();
        for (const CallArgument& other : out)
          if (other.keyword == argument.keyword)
            throw ExprError(offset, "argument {} is given twice", in_quotes(argument.keyword));
      } else if (!out.empty() && !out.back().keyword.empty()) {
        throw ExprError(offset, "a positional argument behind one with a name");
      }
      argument.value = choice();
      out.push_back(std::move(argument));
    }
    return out;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

ExprPtr parse_expr(std::string_view text) { return Parser(text).whole(); }

}  // namespace keyway::inline v1
