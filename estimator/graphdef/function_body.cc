#include "estimator/graphdef/function_body.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/graph/needed_nodes.h"
#include "estimator/graphdef/import/output_numbers.h"
#include "estimator/proto/serialize.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// FNV-1a.
uint64_t Hash(absl::string_view bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return hash;
}

// The nodes that the results of a function need.
proto::GraphDef NodesOf(const Function* function, const WriteNodeFn& write_node) {
  proto::GraphDef nodes;
  if (function == nullptr) return nodes;
  std::set<const Node*> inputs;
  for (const Tensor& input : function->inputs()) inputs.insert(input.node());
  for (const Node* node : NeededNodes(function->graph(), function->results()))
    if (inputs.count(node) == 0) write_node(*node, &nodes);
  return nodes;
}

}  // namespace

FunctionBody::FunctionBody(const Function* function, const WriteNodeFn& write_node)
    : nodes_(NodesOf(function, write_node)), builder_(&nodes_) {}

std::string FunctionBody::AddArg(proto::DataType type) {
  auto& arg = *function_.mutable_signature()->add_input_arg();
  arg.set_name(Fresh(absl::StrCat("arg", function_.signature().input_arg_size() - 1)));
  arg.set_type(type);
  args_.insert(arg.name());
  return arg.name();
}

void FunctionBody::AddResult(const std::string& value, proto::DataType type) {
  auto& result = *function_.mutable_signature()->add_output_arg();
  result.set_name(absl::StrCat("result", results_.size()));
  result.set_type(type);
  results_.push_back(value);
}

std::string FunctionBody::Finish(absl::string_view prefix, const Node& owner,
                                 proto::FunctionDefLibrary* library) {
  for (const proto::NodeDef& node : nodes_.node()) ops_[node.name()] = node.op();
  for (const proto::NodeDef& node : nodes_.node()) {
    proto::NodeDef& def = *function_.add_node_def();
    def = node;
    def.clear_input();
    for (const std::string& input : node.input()) {
      if (!absl::StartsWith(input, "^")) {
        def.add_input(Resolved(input));
      } else if (ops_.count(input.substr(1)) > 0) {
        def.add_input(input);
      }
    }
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    const auto& name = function_.signature().output_arg(static_cast<int>(i)).name();
    (*function_.mutable_ret())[name] = Resolved(results_[i]);
  }
  std::string bytes;
  CHECK(SerializeSorted(function_, &bytes));
  std::string name = absl::StrCat(
      prefix, "_", absl::Hex(Hash(absl::StrCat(owner.name(), bytes)), absl::kZeroPad16));
  function_.mutable_signature()->set_name(name);
  const auto& all = library->function();
  const bool known = std::any_of(all.begin(), all.end(), [&name](const auto& other) {
    return other.signature().name() == name;
  });
  if (!known) *library->add_function() = std::move(function_);
  return name;
}

std::string FunctionBody::Resolved(std::string name) const {
  for (auto found = bound_.find(name); found != bound_.end(); found = bound_.find(name))
    name = found->second;
  if (args_.count(name) > 0) return name;
  const std::pair<std::string, std::string> parts = absl::StrSplit(name, absl::MaxSplits(':', 1));
  int output = 0;
  CHECK(parts.second.empty() || absl::SimpleAtoi(parts.second, &output));
  const auto op = ops_.find(parts.first);
  CHECK(op != ops_.end()) << name;
  return absl::StrCat(parts.first, ":", OutputName(op->second, output));
}

}  // namespace estimator
