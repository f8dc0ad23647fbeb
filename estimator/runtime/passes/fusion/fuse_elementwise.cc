#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/elementwise/groups.h"
#include "estimator/runtime/passes/elementwise/recompute.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

class Fuser {
 public:
  Fuser(Module& module, KernelTier fastest)
      : module_(module), rewriter_(module, fastest), groups_(module) {
    for (const Update& update : module.updates) variable_of_.emplace(update.value, update.variable);
  }

  void Run() {
    for (const auto& [group, members] : groups_.members()) {
      if (members.size() >= 2) Build(members);
    }
    rewriter_.Finish();
  }

 private:
  const Node& at(int n) const { return module_.node(n); }

  void Build(const std::vector<int>& members) {
    const std::set<int> inside(members.begin(), members.end());
    // Members that other nodes read; those that update variables are first.
    std::vector<int> outputs;
    for (const int n : members) {
      const std::vector<int>& all = rewriter_.readers({n, 0});
      if (std::any_of(all.begin(), all.end(), [&](int r) { return inside.count(r) == 0; }))
        outputs.push_back(n);
    }
    std::stable_partition(outputs.begin(), outputs.end(), [&](int n) {
      return variable_of_.count({n, 0}) > 0;
    });

    Node fused;
    fused.op = "_FusedElementwise";
    fused.name = at(members.back()).name;
    std::map<Value, int64_t> operand;
    const auto add_input = [&](Value value) {
      if (inside.count(value.node) > 0) return;
      // A tile of a value is read once, however many members need it.
      if (operand.emplace(value, static_cast<int64_t>(fused.inputs.size())).second)
        fused.inputs.push_back(value);
    };
    // A kernel lets output k overwrite the first suitable input. So for an output that updates a
    // variable, that variable must come first.
    for (const int n : outputs) {
      const auto variable = variable_of_.find({n, 0});
      if (variable == variable_of_.end()) continue;
      for (const int m : members) {
        for (const Value& input : at(m).inputs) {
          const Node& source = module_.node(Root(module_, input));
          if (source.kind == Node::Kind::kVariable && source.index == variable->second)
            add_input(input);
        }
      }
    }
    for (const int n : members) {
      for (const Value& input : at(n).inputs) add_input(input);
    }

    const int64_t num_inputs = static_cast<int64_t>(fused.inputs.size());
    std::vector<std::string> ops;
    std::vector<int64_t> args;
    std::vector<float> alphas;
    bool has_alpha = false;
    for (size_t j = 0; j < members.size(); ++j) {
      const Node& node = at(members[j]);
      ops.push_back(node.op);
      const bool node_has_alpha = node.attrs.has("alpha");
      alphas.push_back(node_has_alpha ? node.attrs.f("alpha") : 0.0f);
      has_alpha = has_alpha || node_has_alpha;
      for (size_t i = 0; i < 3; ++i)
        args.push_back(i < node.inputs.size() ? operand.at(node.inputs[i]) : -1);
      operand[{members[j], 0}] = num_inputs + static_cast<int64_t>(j);
    }
    std::vector<int64_t> output_operands;
    std::vector<Value> values;
    for (const int n : outputs) {
      values.push_back({n, 0});
      output_operands.push_back(operand.at(values.back()));
    }
    fused.attrs.Set("ops", std::move(ops));
    if (has_alpha) fused.attrs.Set("alphas", std::move(alphas));
    fused.attrs.Set("args", std::move(args));
    fused.attrs.Set("outputs", std::move(output_operands));
    rewriter_.Fuse(inside, {{.node = std::move(fused), .outputs = std::move(values)}});
  }

  Module& module_;
  Rewriter rewriter_;
  const ElementwiseGroups groups_;
  std::map<Value, int> variable_of_;  // value -> the variable that it updates
};

}  // namespace

void FuseElementwise(Module& module, KernelTier fastest) {
  if (fastest == KernelTier::kReference) return;
  SplitAddN(module);
  RecomputeElementwise(module);
  Fuser(module, fastest).Run();
}

}  // namespace estimator::ir
