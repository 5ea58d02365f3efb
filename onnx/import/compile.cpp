#include <keyway/core/base/error.h>
#include <keyway/onnx/import/attribute.h>
#include <keyway/onnx/import/compile.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/format/tensor_proto.h>
#include <keyway/onnx/import/operators/table.h>
#include <keyway/onnx/import/program/call.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace keyway::inline v1::onnx {

namespace {

// A file may say much with few bytes, by functions that call functions.
constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostAttributes = 1000;
constexpr int kMostNested = 32;

using Versions = std::map<std::string, int, std::less<>>;

// The nodes of a function call its body.
Results run_body(const Call& call) {
  std::vector<Slot> inputs;
  const Graph& body = call.graph_attribute("body");
  for (std::size_t i = 0; i < body.inputs.size(); ++i) inputs.push_back(call.has(i) ? call.slot(i) : Slot({}, true));
  return call.run(body, std::move(inputs));
}
constexpr Operator kFunctionCall = {.name = "function",
                                    .run = run_body,
                                    .most_inputs = Operator::kAny,
                                    .most_outputs = Operator::kAny,
                                    .sort = Operator::Sort::Control};

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

// A NodeProto, with the bytes of its attributes.
struct NodeText {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;
  std::string_view name;
  std::string_view op;
  std::string_view domain;
  std::string_view overload;
};

NodeText read_node(std::string_view proto) {
  NodeText node;
  Message message(proto);
  for (Field field; message.next(field);) {
    switch (field.number) {
      case 1: node.inputs.push_back(field.text()); break;
      case 2: node.outputs.push_back(field.text()); break;
      case 3: node.name = field.text(); break;
      case 4: node.op = field.text(); break;
      case 5: node.attributes.push_back(field.content()); break;
      case 7: node.domain = plain_domain(field.text()); break;
      case 8: node.overload = field.text(); break;
      default: break;
    }
  }
  return node;
}

// A FunctionProto, with the bytes of its nodes.
struct Function {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // that a call may give
  std::vector<std::string_view> defaults;    // of others: AttributeProtos
  std::vector<std::string_view> nodes;
  Versions versions;
};

void read_version(std::string_view proto, Versions& versions) {
  std::string_view domain;
  std::int64_t version = 0;
  Message message(proto);
  for (Field field; message.next(field);) {
    if (field.number == 1) domain = plain_domain(field.text());
    if (field.number == 2) version = field.integer();
  }
  const int newest = newest_version(domain);
  KEYWAY_CHECK_AS(NotImplemented, newest == 0 || (version >= 1 && version <= newest),
                  "the model asks for version {} of the operators of {}; Keyway has those of versions 1 to {}", version,
                  domain.empty() ? std::string_view("ai.onnx") : shown(domain), newest);
  versions[std::string(domain)] = newest == 0 ? 1 : static_cast<int>(version);
}

Function read_function(std::string_view proto) {
  Function function;
  Message message(proto);
  for (Field field; message.next(field);) {
    switch (field.number) {
      case 1: function.name = field.text(); break;
      case 4: function.inputs.push_back(field.text()); break;
      case 5: function.outputs.push_back(field.text()); break;
      case 6: function.attributes.push_back(field.text()); break;
      case 7: function.nodes.push_back(field.content()); break;
      case 9: read_version(field.content(), function.versions); break;
      case 10: function.domain = plain_domain(field.text()); break;
      case 11: function.defaults.push_back(field.content()); break;
      case 13: function.overload = field.text(); break;
      default: break;
    }
  }
  return function;
}

using FunctionName = std::tuple<std::string_view, std::string_view, std::string_view>;

// The names of a graph while it is made, and the graph around it.
struct Scope {
  Scope* around;
  Graph& graph;
  std::unordered_map<std::string_view, std::int32_t> slots;
  std::set<std::int32_t> inputs;

  std::int32_t add(std::string_view name) {
    const std::int32_t slot = graph.slots++;
    if (!name.empty()) {
      KEYWAY_CHECK_AS(Parse, slots.emplace(name, slot).second, "the value '{}' is given twice", shown(name));
    }
    return slot;
  }
  // The slot of a name, here or around; kNoSlot if there is none.
  std::int32_t find(std::string_view name) {
    const auto found = slots.find(name);
    if (found != slots.end()) return found->second;
    const std::int32_t outer = around == nullptr ? kNoSlot : around->find(name);
    if (outer == kNoSlot) return kNoSlot;
    const std::int32_t slot = add(name);
    graph.outer.emplace_back(outer, slot);
    return slot;
  }
};

// What holds for the nodes of a graph, or of a function's body.
struct Surroundings {
  const Versions& versions;
  const std::vector<Attribute>* given = nullptr;  // within a function: the attributes of its call
  int depth = 0;
};

class Compiler {
 public:
  explicit Compiler(const ExternalData& external) : external_(external) {}

  std::shared_ptr<const Graph> model(std::string_view proto) {
    std::string_view graph;
    bool has_graph = false;
    Versions versions;
    Message message(proto);
    for (Field field; message.next(field);) {
      if (field.number == 7) {
        graph = field.content();
        has_graph = true;
      }
      if (field.number == 8) read_version(field.content(), versions);
      if (field.number == 25) add_function(read_function(field.content()));
    }
    KEYWAY_CHECK_AS(Parse, has_graph, "this is no ONNX model: there is no graph in it");
    if (versions.empty()) versions[""] = 1;  // of files from before there were versions
    return this->graph(graph, nullptr, {versions});
  }

 private:
  void add_function(Function function) {
    const FunctionName name{function.domain, function.name, function.overload};
    KEYWAY_CHECK_AS(Parse, functions_.emplace(name, std::move(function)).second, "the function '{}' is there twice",
                    shown(std::get<1>(name)));
  }

  std::shared_ptr<const Graph> graph(std::string_view proto, Scope* around, const Surroundings& surroundings) {
    KEYWAY_CHECK_AS(Parse, surroundings.depth < kMostNested, "graphs are nested more than {} deep", kMostNested);
    const auto graph = std::make_shared<Graph>();
    Scope scope{around, *graph, {}, {}};
    std::vector<std::string_view> nodes;
    std::vector<std::string_view> outputs;
    Message message(proto);
    for (Field field; message.next(field);) {
      switch (field.number) {
        case 1: nodes.push_back(field.content()); break;
        case 5: add_initializer(field.content(), scope); break;
        case 11: add_input(field.content(), scope); break;
        case 12: outputs.push_back(field.content()); break;
        case 15: KEYWAY_FAIL(NotImplemented, "there are no sparse tensors, as this model has one");
        default: break;
      }
    }
    for (const std::string_view node : nodes) add_node(node, scope, surroundings);
    for (const std::string_view output : outputs) add_output(output, scope);
    note_ends(*graph);
    return graph;
  }

  // The body of a function, for one call.
  std::shared_ptr<const Graph> body(const Function& function, const std::vector<Attribute>& given, int depth) {
    KEYWAY_CHECK_AS(Parse, depth < kMostNested, "functions call functions more than {} deep", kMostNested);
    const auto graph = std::make_shared<Graph>();
    Scope scope{nullptr, *graph, {}, {}};
    for (const std::string_view input : function.inputs) {
      graph->inputs.push_back(scope.add(input));
    }
    const Surroundings surroundings{function.versions, &given, depth};
    for (const std::string_view node : function.nodes) add_node(node, scope, surroundings);
    for (const std::string_view output : function.outputs) graph->outputs.push_back(known_slot(output, scope));
    note_ends(*graph);
    return graph;
  }

  Value tensor(std::string_view proto) {
    // A function's constants are one tensor, however often it is called.
    const auto [at, is_new] = tensors_.try_emplace(proto.data());
    if (is_new) at->second = read_tensor(proto, external_).value;
    return at->second;
  }

  // Initializers and inputs may come in any order; an initializer may be the default of an input.
  static std::int32_t named_slot(std::string_view name, Scope& scope) {
    const auto found = scope.slots.find(name);
    return found != scope.slots.end() ? found->second : scope.add(name);
  }

  void add_initializer(std::string_view proto, Scope& scope) {
    NamedValue read = read_tensor(proto, external_);
    KEYWAY_CHECK_AS(Parse, !read.name.empty(), "an initializer has no name");
    scope.graph.initializers.emplace_back(named_slot(read.name, scope), std::move(read.value));
  }

  static std::pair<std::string_view, Type> read_argument(std::string_view proto) {
    std::pair<std::string_view, Type> argument;
    Message message(proto);
    for (Field field; message.next(field);) {
      if (field.number == 1) argument.first = field.text();
      if (field.number == 2) argument.second = read_type(field.content());
    }
    return argument;
  }

  void add_input(std::string_view proto, Scope& scope) {
    auto [name, type] = read_argument(proto);
    const std::int32_t slot = named_slot(name, scope);
    KEYWAY_CHECK_AS(Parse, scope.inputs.insert(slot).second, "the input '{}' is there twice", shown(name));
    scope.graph.inputs.push_back(slot);
    scope.graph.input_names.emplace_back(name);
    scope.graph.input_types.push_back(std::move(type));
  }

  void add_output(std::string_view proto, Scope& scope) {
    auto [name, type] = read_argument(proto);
    scope.graph.outputs.push_back(known_slot(name, scope));
    scope.graph.output_names.emplace_back(name);
    scope.graph.output_types.push_back(std::move(type));
  }

  static std::int32_t known_slot(std::string_view name, Scope& scope) {
    const std::int32_t slot = scope.find(name);
    KEYWAY_CHECK_AS(Parse, slot != kNoSlot, "the value '{}' is used, but nothing before gives it", shown(name));
    return slot;
  }

  void add_node(std::string_view proto, Scope& scope, const Surroundings& surroundings) {
    KEYWAY_CHECK_AS(Parse, ++nodes_ <= kMostNodes,
                    "the model has more than {} nodes, those of its functions' calls included", kMostNodes);
    const NodeText text = read_node(proto);
    Node node;
    node.name = shown(text.name.empty() && !text.outputs.empty() ? text.outputs[0] : text.name);
    for (const std::string_view input : text.inputs) {
      node.inputs.push_back(input.empty() ? kNoSlot : known_slot(input, scope));
    }
    KEYWAY_CHECK_AS(Parse, text.attributes.size() <= kMostAttributes, "node '{}' has {} attributes; {} is the most",
                    node.name, text.attributes.size(), kMostAttributes);
    for (const std::string_view attribute : text.attributes) add_attribute(attribute, node, scope, surroundings);
    choose_operator(text, node, surroundings);
    for (const std::string_view output : text.outputs)
      node.outputs.push_back(output.empty() ? kNoSlot : scope.add(output));
    scope.graph.nodes.push_back(std::move(node));
  }

  void add_attribute(std::string_view proto, Node& node, Scope& scope, const Surroundings& surroundings) {
    const AttributeParts parts{
        [&](std::string_view bytes) { return tensor(bytes); },
        [&](std::string_view bytes) {
          return graph(bytes, &scope, {surroundings.versions, surroundings.given, surroundings.depth + 1});
        }};
    AttributeText read = read_attribute(proto, parts);
    if (!read.refers_to.empty()) {
      KEYWAY_CHECK_AS(Parse, surroundings.given != nullptr,
                      "attribute '{}' refers to that of a call, but is in no function", shown(read.attribute.name));
      const auto given = std::ranges::find(*surroundings.given, read.refers_to, &Attribute::name);
      if (given == surroundings.given->end()) return;  // left out of the call: the default
      KEYWAY_CHECK_AS(NotImplemented, !std::holds_alternative<std::shared_ptr<const Graph>>(given->content),
                      "a function is given a graph as an attribute");
      read.attribute.content = given->content;
    }
    const bool is_new =
        std::ranges::find(node.attributes, read.attribute.name, &Attribute::name) == node.attributes.end();
    KEYWAY_CHECK_AS(Parse, is_new, "attribute '{}' is there twice", shown(read.attribute.name));
    node.attributes.push_back(std::move(read.attribute));
  }

  void choose_operator(const NodeText& text, Node& node, const Surroundings& surroundings) {
    const auto function = functions_.find({text.domain, text.op, text.overload});
    if (function != functions_.end()) return call_function(function->second, node, surroundings.depth);
    const std::string_view domain = text.domain.empty() ? std::string_view("ai.onnx") : shown(text.domain);
    KEYWAY_CHECK_AS(NotImplemented, newest_version(text.domain) != 0,
                    "there are no operators of the domain '{}', as '{}' is one", domain, shown(text.op));
    const auto version = surroundings.versions.find(text.domain);
    KEYWAY_CHECK_AS(Parse, version != surroundings.versions.end(),
                    "the model does not say which version of {}'s operators it has", domain);
    node.version = version->second;
    node.op = find_operator(text.domain, text.op, node.version);
    KEYWAY_CHECK_AS(NotImplemented, node.op != nullptr,
                    "there is no operator '{}' of version {} of {}, which node '{}' is", shown(text.op), node.version,
                    domain, node.name);
    check_node(text, node);
  }

  static void check_node(const NodeText& text, const Node& node) {
    const auto most_inputs = static_cast<std::size_t>(node.op->most_inputs);
    const auto most_outputs = static_cast<std::size_t>(node.op->most_outputs);
    KEYWAY_CHECK_AS(Parse, text.inputs.size() <= most_inputs && text.outputs.size() <= most_outputs,
                    "node '{}' has {} inputs and {} outputs; {} has {} and {} at most", node.name, text.inputs.size(),
                    text.outputs.size(), node.op->name, most_inputs, most_outputs);
    for (const Attribute& attribute : node.attributes) {
      KEYWAY_CHECK_AS(NotImplemented, has_word(node.op->attributes, attribute.name),
                      "node '{}': {} of version {} has no attribute '{}'", node.name, node.op->name, node.version,
                      shown(attribute.name));
    }
  }

  static bool has_word(std::string_view words, std::string_view word) {
    while (!words.empty()) {
      const std::string_view first = words.substr(0, words.find(' '));
      if (first == word) return true;
      words.remove_prefix(std::min(words.size(), first.size() + 1));
    }
    return false;
  }

  void call_function(const Function& function, Node& node, int depth) {
    KEYWAY_CHECK_AS(Parse, node.inputs.size() <= function.inputs.size(), "the function '{}' takes {} inputs, not {}",
                    shown(function.name), function.inputs.size(), node.inputs.size());
    for (const std::string_view proto : function.defaults) {
      const AttributeParts parts{[&](std::string_view bytes) { return tensor(bytes); },
                                 [](std::string_view) -> std::shared_ptr<const Graph> {
                                   KEYWAY_FAIL(NotImplemented, "a function has a graph as the default of an attribute");
                                 }};
      Attribute otherwise = read_attribute(proto, parts).attribute;
      if (std::ranges::find(node.attributes, otherwise.name, &Attribute::name) == node.attributes.end()) {
        node.attributes.push_back(std::move(otherwise));
      }
    }
    std::shared_ptr<const Graph> graph = body(function, node.attributes, depth + 1);
    node.attributes = {Attribute{"body", std::move(graph)}};
    node.op = &kFunctionCall;
  }

  // After which node each value is not needed any more.
  static void note_ends(Graph& graph) {
    std::vector<bool> needed(static_cast<std::size_t>(graph.slots), false);
    for (const std::int32_t output : graph.outputs) needed[static_cast<std::size_t>(output)] = true;
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
      const auto note = [&](std::int32_t slot) {
        if (slot == kNoSlot || needed[static_cast<std::size_t>(slot)]) return;
        needed[static_cast<std::size_t>(slot)] = true;
        node->ended.push_back(slot);
      };
      std::ranges::for_each(node->inputs, note);
      std::ranges::for_each(node->outputs, note);
      for (const Attribute& attribute : node->attributes) {
        const auto* const inner = std::get_if<std::shared_ptr<const Graph>>(&attribute.content);
        if (inner == nullptr) continue;
        for (const auto& [outer, slot] : (*inner)->outer) note(outer);
      }
    }
  }

  const ExternalData& external_;
  std::map<FunctionName, Function> functions_;
  std::unordered_map<const char*, Value> tensors_;
  std::size_t nodes_ = 0;
};

}  // namespace

std::shared_ptr<const Graph> compile(std::string_view model, const ExternalData& external) {
  return Compiler(external).model(model);
}

}  // namespace keyway::inline v1::onnx
