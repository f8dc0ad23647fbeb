#include "estimator/runtime/passes/derive_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/runtime/passes/pattern.h"
#include "estimator/runtime/passes/select_kernels.h"

namespace estimator::ir {
namespace {

// How many times as large as its operands a result may be.
constexpr int64_t kLargestGrowth = 2;

class Deriver {
 public:
  explicit Deriver(Module& module) : module_(module) {
    for (const Update& update : module_.updates) updated_.insert(update.variable);
  }

  void Run(bool prepare_inputs) {
    Mark();
    if (prepare_inputs && SplitKernels()) {
      // Compact gives the nodes new numbers, and the copies are not marked yet.
      Compact(module_);
      Mark();
    }
    MarkKept();
  }

 private:
  // What a value depends on.
  enum class Source { kStep, kConstants, kVariables };

  Source SourceOf(Value value) const { return At(sources_, value.node); }

  // The nodes whose values are fetches or new values of variables.
  std::set<int> Results() const {
    std::set<int> results;
    for (const Value& fetch : module_.fetches) results.insert(Root(module_, fetch).node);
    for (const Update& update : module_.updates) results.insert(Root(module_, update.value).node);
    return results;
  }

  static bool CanBeKept(const Module& module, const Node& node) {
    int64_t in = 0, out = 0;
    for (const Value& input : node.inputs)
      in += static_cast<int64_t>(module.spec(input).num_bytes());
    for (const TensorSpec& output : node.outputs) {
      if (output.dtype == DType::kString) return false;
      out += static_cast<int64_t>(output.num_bytes());
    }
    return node.op == kPrepareOp || out <= kLargestGrowth * in;
  }

  Source FindSource(int n, const std::set<int>& results) const {
    const Node& node = module_.node(n);
    switch (node.kind) {
      case Node::Kind::kConstant:
        return Source::kConstants;
      case Node::Kind::kVariable:
        return updated_.count(node.index) > 0 ? Source::kStep : Source::kVariables;
      case Node::Kind::kFeed:
        return module_.repeats && node.index >= module_.num_parameters ? Source::kVariables
                                                                       : Source::kStep;
      case Node::Kind::kOp:
        break;
    }
    // Such a value differs from step to step, or between replicas.
    if (node.stateful || node.inputs.empty() || node.op == kCollectiveOp) return Source::kStep;
    Source source = Source::kConstants;
    for (const Value& input : node.inputs) {
      if (SourceOf(input) == Source::kStep) return Source::kStep;
      if (SourceOf(input) == Source::kVariables) source = Source::kVariables;
    }
    if (IsView(node)) return source;
    // FoldConstants leaves such a node where the result is too large to be kept. Copies of filters
    // save more time than a cast.
    if (source == Source::kConstants && node.op != kPrepareOp) return Source::kStep;
    if (results.count(n) > 0 || !CanBeKept(module_, node)) return Source::kStep;
    return source;
  }

  void Mark() {
    const std::set<int> results = Results();
    sources_.assign(module_.nodes.size(), Source::kStep);
    for (int n = 0; n < module_.num_nodes(); ++n) {
      At(sources_, n) = FindSource(n, results);
      Node& node = module_.node(n);
      node.derived = node.kind == Node::Kind::kOp &&
                     (At(sources_, n) != Source::kStep ||
                      (IsBfloat16Copy(module_, node) && results.count(n) == 0));
      node.kept = false;
    }
  }

  // A node _PrepareInput, and the kernel that it was made for.
  struct Copy {
    KernelSpec kernel;
    size_t bytes;
    Value value;
  };

  // Returns whether it has split any. Equal kernels of one input share a copy.
  bool SplitKernels() {
    std::map<Value, std::vector<Copy>> copies_of;
    for (int n = 0, size = module_.num_nodes(); n < size; ++n) {
      if (module_.node(n).kind != Node::Kind::kOp || module_.node(n).derived) continue;
      // A derived node runs rarely, so its kernel copies its input itself.
      const std::shared_ptr<Kernel> kernel = module_.node(n).kernel;
      const std::shared_ptr<PreparedInput> prepared = PreparedInputOf(kernel);
      if (prepared == nullptr) continue;
      const Value input = At(module_.node(n).inputs, prepared->prepared_input());
      // A copy for one step would only cost memory.
      if (SourceOf(input) == Source::kStep) continue;
      const KernelSpec spec = SpecOf(module_, module_.node(n));
      std::vector<Copy>& copies = copies_of[input];
      auto copy = std::find_if(copies.begin(), copies.end(), [&](const Copy& other) {
        return other.kernel.op == spec.op && other.kernel.attrs == spec.attrs &&
               other.kernel.inputs == spec.inputs && other.kernel.outputs == spec.outputs &&
               other.bytes == prepared->prepared_bytes();
      });
      if (copy == copies.end()) {
        const Value value = AddPrepare(n, input, prepared);
        copy = copies.insert(copy, {spec, prepared->prepared_bytes(), value});
      }
      At(module_.node(n).inputs, prepared->prepared_input()) = copy->value;
      module_.node(n).kernel = MakeRunPrepared(kernel);
    }
    return !copies_of.empty();
  }

  // Adds a node that copies `input` for the kernel of node `n`.
  Value AddPrepare(int n, Value input, const std::shared_ptr<PreparedInput>& prepared) {
    const Shape bytes{static_cast<int64_t>(prepared->prepared_bytes())};
    return module_.Add({.op = kPrepareOp,
                        .name = absl::StrCat(module_.node(n).name, "/prepared"),
                        .inputs = {input},
                        .outputs = {{DType::kUint8, bytes}},
                        .kernel = MakePrepare(prepared)});
  }

  // Keeps the results that other nodes read in every step.
  void MarkKept() {
    for (int n = 0; n < module_.num_nodes(); ++n) {
      if (module_.node(n).derived) continue;
      for (const Value& input : module_.node(n).inputs) {
        Node& root = module_.node(Root(module_, input));
        root.kept = root.derived;
      }
    }
  }

  Module& module_;
  std::set<int> updated_;
  std::vector<Source> sources_;  // of each node
};

}  // namespace

bool IsBfloat16Copy(const Module& module, const Node& node) {
  return IsOp(node, "Cast") && !HasFlag(node, "Truncate") &&
         node.outputs[0].dtype == DType::kBfloat16 &&
         module.spec(node.inputs[0]).dtype == DType::kFloat32 &&
         module.node(Root(module, node.inputs[0])).kind == Node::Kind::kVariable;
}

void DeriveValues(Module& module, bool prepare_inputs) { Deriver(module).Run(prepare_inputs); }

}  // namespace estimator::ir
