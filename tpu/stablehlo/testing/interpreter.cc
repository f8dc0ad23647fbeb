#include "tpu/stablehlo/testing/interpreter.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "tpu/stablehlo/testing/module.h"
#include "tpu/stablehlo/testing/ops.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

using Shared = std::shared_ptr<const Tensor>;
using OfReplicas = std::vector<Shared>;  // a value on each replica

class Interpreter {
 public:
  explicit Interpreter(size_t num_replicas)
      : num_replicas_(num_replicas), active_(num_replicas, 1) {}

  // Runs a block on all replicas. Returns what it returns.
  std::vector<OfReplicas> Run(const Block& block, const std::vector<OfReplicas>& arguments) {
    if (arguments.size() != block.arguments.size())
      throw InvalidArgument(arguments.size(), " arguments for ", block.arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      Define(block.arguments[i], block.types[i], arguments[i]);
    for (const Op& op : block.ops) {
      std::vector<OfReplicas> operands;
      for (size_t i = 0; i < op.operands.size(); ++i) operands.push_back(Read(op, i));
      if (op.name == "return") {
        // A value of a block cannot be read outside it.
        for (const Op& done : block.ops)
          for (const std::string& name : done.results) values_.erase(name);
        for (const std::string& name : block.arguments) values_.erase(name);
        return operands;
      }
      const std::vector<OfReplicas> results = RunOp(op, operands);
      for (size_t i = 0; i < results.size(); ++i) {
        try {
          Define(op.results[i], op.result_types[i], results[i]);
        } catch (const absl::Status& status) {
          throw Annotate(status, op.name);
        }
      }
    }
    throw InvalidArgument("a block has no return");
  }

 private:
  void Define(const std::string& name, const Type& type, const OfReplicas& value) {
    for (const Shared& tensor : value) {
      if (!(tensor->type == type)) {
        throw InvalidArgument(name, " is written as ", type.ToString(), ", and is ",
                              tensor->type.ToString());
      }
    }
    if (!values_.emplace(name, value).second) throw InvalidArgument(name, " has two values");
  }

  const OfReplicas& Read(const Op& op, size_t i) const {
    const auto found = values_.find(op.operands[i]);
    if (found == values_.end()) throw InvalidArgument(op.operands[i], " has no value here");
    if (!(found->second[0]->type == op.operand_types[i])) {
      throw InvalidArgument(op.name, " reads ", op.operands[i], " as ",
                            op.operand_types[i].ToString(), ", and it is ",
                            found->second[0]->type.ToString());
    }
    return found->second;
  }

  std::vector<OfReplicas> RunOp(const Op& op, const std::vector<OfReplicas>& operands) {
    if (op.name == "while") return While(op, operands);
    if (op.name == "if" || op.name == "case") return Branches(op, operands.at(0));
    if (op.name == "all_reduce") return {AllReduce(op, operands.at(0))};
    std::vector<OfReplicas> results(op.results.size());
    for (size_t r = 0; r < num_replicas_; ++r) {
      std::vector<Tensor> outputs;
      if (op.name == "replica_id") {
        outputs.emplace_back(Type(DType::kInt32, Shape{}, /*is_unsigned=*/true));
        outputs[0].elements[0] = r;
      } else {
        std::vector<const Tensor*> inputs;
        for (const OfReplicas& operand : operands) inputs.push_back(operand[r].get());
        outputs = RunTensorOp(op, inputs);
      }
      if (outputs.size() != results.size())
        throw InvalidArgument(op.name, " has ", outputs.size(), " results");
      for (size_t i = 0; i < results.size(); ++i)
        results[i].push_back(std::make_shared<const Tensor>(std::move(outputs[i])));
    }
    return results;
  }

  static bool HasCollective(const Block& block) {
    for (const Op& op : block.ops) {
      if (op.name == "all_reduce") return true;
      for (const Block& region : op.regions)
        if (HasCollective(region)) return true;
    }
    return false;
  }

  // Runs a region for the replicas in `active`. The others compute too, with values that nobody
  // reads: no loop waits for them, and `results` keeps what it has of them.
  void RunFor(const std::vector<char>& active, const Block& region,
              const std::vector<OfReplicas>& arguments, std::vector<OfReplicas>* results) {
    if (std::find(active.begin(), active.end(), 0) != active.end() && HasCollective(region))
      throw InvalidArgument("replicas do not agree on a region with a collective");
    const std::vector<char> before = std::exchange(active_, active);
    const std::vector<OfReplicas> next = Run(region, arguments);
    active_ = before;
    results->resize(next.size(), OfReplicas(num_replicas_));
    for (size_t i = 0; i < next.size(); ++i) {
      for (size_t r = 0; r < num_replicas_; ++r)
        if (active[r] != 0 || (*results)[i][r] == nullptr) (*results)[i][r] = next[i][r];
    }
  }

  std::vector<OfReplicas> While(const Op& op, std::vector<OfReplicas> state) {
    while (true) {
      const OfReplicas condition = Run(op.regions.at(0), state).at(0);
      std::vector<char> open = active_;
      for (size_t r = 0; r < num_replicas_; ++r)
        if (condition[r]->elements.at(0) == 0) open[r] = 0;
      if (std::find(open.begin(), open.end(), 1) == open.end()) return state;
      const std::vector<OfReplicas> arguments = state;
      RunFor(open, op.regions.at(1), arguments, &state);
    }
  }

  // Each replica takes the results of the branch that it has chosen.
  std::vector<OfReplicas> Branches(const Op& op, const OfReplicas& selector) {
    const auto last = static_cast<int64_t>(op.regions.size()) - 1;
    const bool is_if = op.name == "if";
    const Type type(is_if ? DType::kBool : DType::kInt32, Shape{});
    if (!(selector.at(0)->type == type) || last < 0 || (is_if && last != 1))
      throw InvalidArgument(op.name, " needs ", type.ToString(), " and its branches");
    std::vector<OfReplicas> results;
    for (int64_t branch = 0; branch <= last; ++branch) {
      std::vector<char> chosen = active_;
      for (size_t r = 0; r < num_replicas_; ++r) {
        int64_t index = AsInt(selector[r]->elements.at(0));
        if (is_if) index = 1 - index;
        if (index < 0 || index > last) index = last;
        if (index != branch) chosen[r] = 0;
      }
      if (std::find(chosen.begin(), chosen.end(), 1) != chosen.end())
        RunFor(chosen, op.regions[static_cast<size_t>(branch)], {}, &results);
    }
    return results;
  }

  // Sums over the groups, along the tree of replicas in one process: neighbours are added in pairs,
  // and so are the sums.
  OfReplicas AllReduce(const Op& op, const OfReplicas& x) {
    const Combiner combine = CombinerOf(op.regions.at(0));
    OfReplicas results(num_replicas_);
    for (const Ints& group : op.Rows("replica_groups")) {
      std::vector<Tensor> sums;
      for (const int64_t replica : group) sums.push_back(*x.at(static_cast<size_t>(replica)));
      for (size_t step = 1; step < sums.size(); step *= 2) {
        for (size_t i = 0; i + step < sums.size(); i += 2 * step) {
          for (size_t e = 0; e < sums[i].elements.size(); ++e)
            sums[i].elements[e] =
                Rounded(sums[i].type, combine({sums[i].elements[e], sums[i + step].elements[e]}));
        }
      }
      const Tensor& sum = sums.at(0);
      for (const int64_t replica : group)
        results.at(static_cast<size_t>(replica)) = std::make_shared<const Tensor>(sum);
    }
    for (const Shared& result : results)
      if (result == nullptr) throw InvalidArgument("a replica is in no group of an all_reduce");
    return results;
  }

  const size_t num_replicas_;
  std::vector<char> active_;  // the replicas that run the present region
  std::map<std::string, OfReplicas> values_;
};

}  // namespace

absl::StatusOr<ReplicaValues> Interpret(absl::string_view module, const ReplicaValues& arguments) {
  try {
    const Block main = ParseModule(module);
    std::vector<OfReplicas> values(main.arguments.size());
    for (const std::vector<Array>& of_replica : arguments) {
      if (of_replica.size() != values.size())
        throw InvalidArgument(of_replica.size(), " arguments for ", values.size());
      for (size_t i = 0; i < values.size(); ++i)
        values[i].push_back(std::make_shared<const Tensor>(FromArray(of_replica[i])));
    }
    ReplicaValues results(arguments.size());
    for (const OfReplicas& result : Interpreter(arguments.size()).Run(main, values)) {
      for (size_t r = 0; r < results.size(); ++r) results[r].push_back(ToArray(*result[r]));
    }
    return results;
  } catch (const absl::Status& status) {
    return status;
  }
}

}  // namespace estimator::tpu::stablehlo::testing
