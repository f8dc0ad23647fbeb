#include "estimator/ops/testing/eval.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/graph/function.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/op_registry.h"
#include "glog/logging.h"

namespace estimator::testing {
namespace {

// One evaluation: the tensors with a known value, and which of them are constants.
class Evaluator {
 public:
  Evaluator(const std::map<Tensor, Array>& feeds, const StepContext& step, KernelTier fastest)
      : feeds_(feeds), step_(step), fastest_(fastest) {}

  absl::Status Run(const std::vector<Tensor>& fetches) {
    for (const Tensor& fetch : fetches) Collect(fetch);
    for (const auto& [id, node] : needed_) EST_RETURN_IF_ERROR(RunNode(*node));
    return absl::OkStatus();
  }

  const Array& value(const Tensor& tensor) const {
    const auto fed = feeds_.find(tensor);
    return fed != feeds_.end() ? fed->second : values_.at(tensor);
  }

 private:
  void Collect(const Tensor& tensor) {
    std::vector<Tensor> stack{tensor};
    while (!stack.empty()) {
      const Tensor top = stack.back();
      stack.pop_back();
      if (feeds_.count(top) > 0) continue;
      if (!needed_.emplace(top.node()->id(), top.node()).second) continue;
      for (const Tensor& input : top.node()->inputs()) stack.push_back(input);
      if (top.node()->op() == "VariableV2") InitialValue(top);
    }
  }

  // A variable's node is created before the node of its initial value, so the initial value is
  // evaluated by itself.
  void InitialValue(const Tensor& tensor) {
    for (const Variable& variable : tensor.graph()->variables()) {
      if (variable.node() == tensor.node())
        initial_values_[tensor.node()] = variable.initial_value();
    }
  }

  absl::Status RunNode(Node& node) {
    if (node.op() == "VariableV2") {
      Evaluator initial(feeds_, step_, fastest_);
      const Tensor& tensor = initial_values_.at(&node);
      EST_RETURN_IF_ERROR(initial.Run({tensor}));
      values_[Tensor(nullptr, &node, 0)] = initial.value(tensor);
      return absl::OkStatus();
    }
    if (node.op() == "Placeholder") {
      return absl::InvalidArgumentError(absl::StrCat(node.name(), ": the placeholder is not fed"));
    }
    if (!node.functions().empty()) {
      std::vector<Array> operands;
      for (const Tensor& input : node.inputs()) operands.push_back(value(input));
      EST_ASSIGN_OR_RETURN(std::vector<Array> results, node.op() == "While"
                                                           ? RunWhile(node, operands)
                                                           : RunBranch(node, operands));
      for (int i = 0; i < node.num_outputs(); ++i)
        values_[Tensor(nullptr, &node, i)] = std::move(results[static_cast<size_t>(i)]);
      return absl::OkStatus();
    }
    KernelSpec spec{.op = node.op(),
                    .name = node.name(),
                    .attrs = node.attrs(),
                    .inputs = {},
                    .outputs = node.outputs(),
                    .constants = {}};
    std::vector<Array> inputs;
    bool constant = !node.rules().stateful;
    for (const Tensor& input : node.inputs()) {
      spec.inputs.push_back(input.spec());
      inputs.push_back(value(input));
      const bool is_constant = constants_.count(input) > 0;
      spec.constants.push_back(is_constant ? std::optional<Array>(inputs.back()) : std::nullopt);
      constant = constant && is_constant;
    }
    // Shapes are static, so these are constants for any inputs.
    constant = constant || node.op() == "Shape" || node.op() == "Size" || node.op() == "Rank";
    absl::StatusOr<std::vector<Array>> outputs = RunKernel(spec, inputs, fastest_, step_);
    if (!outputs.ok()) return Annotate(outputs.status(), node.name());
    for (int i = 0; i < node.num_outputs(); ++i) {
      const Tensor tensor(nullptr, &node, i);  // tensors are compared by node and output
      if (constant) constants_.insert(tensor);
      values_[tensor] = std::move((*outputs)[static_cast<size_t>(i)]);
    }
    return absl::OkStatus();
  }

  // The results of a function.
  //   inputs: those of Function::inputs().
  absl::StatusOr<std::vector<Array>> Call(const Function& function,
                                          const std::vector<Array>& inputs,
                                          const StepContext& step) const {
    std::map<Tensor, Array> feeds;
    const Tensors tensors = function.inputs();
    for (size_t i = 0; i < tensors.size(); ++i) feeds.emplace(tensors[i], inputs[i]);
    Evaluator body(feeds, step, fastest_);
    EST_RETURN_IF_ERROR(body.Run(function.results()));
    std::vector<Array> results;
    for (const Tensor& result : function.results()) results.push_back(body.value(result));
    return results;
  }

  // An If or a Case: operand 0 chooses, the others are the captures of each branch in turn.
  absl::StatusOr<std::vector<Array>> RunBranch(const Node& node,
                                               const std::vector<Array>& operands) const {
    const auto last = static_cast<int64_t>(node.functions().size()) - 1;
    int64_t chosen = static_cast<int64_t>(operands[0].AsDouble());
    if (node.op() == "If") chosen = 1 - chosen;
    if (chosen < 0 || chosen > last) chosen = last;
    auto first = operands.begin() + 1;
    for (int64_t i = 0; i < chosen; ++i)
      first += static_cast<int64_t>(node.functions()[static_cast<size_t>(i)]->captures().size());
    const Function& branch = *node.functions()[static_cast<size_t>(chosen)];
    return Call(branch, {first, first + static_cast<int64_t>(branch.captures().size())}, step_);
  }

  absl::StatusOr<std::vector<Array>> RunWhile(const Node& node,
                                              const std::vector<Array>& operands) const {
    const auto n = static_cast<size_t>(node.attrs().i("num_carried"));
    const auto num_scanned = static_cast<size_t>(node.attrs().i("num_scanned"));
    const int64_t limit = operands[0].values<int64_t>()[0];
    std::vector<Array> carried(operands.begin() + 1,
                               operands.begin() + 1 + static_cast<int64_t>(n));
    auto captures = operands.begin() + 1 + static_cast<int64_t>(n + num_scanned);
    const Function* const cond = node.functions()[0].get();
    const auto num_cond = cond == nullptr ? 0 : static_cast<int64_t>(cond->captures().size());
    std::map<int64_t, std::vector<Array>> rows;
    int64_t trip = 0;
    for (; trip < limit; ++trip) {
      const int64_t row = node.attrs().b("reverse") ? limit - 1 - trip : trip;
      StepContext step = step_;
      if (node.attrs().has("draws_in_order"))
        step.step = step.step * limit + trip;
      else
        step.trip_key = TripKey(step_.trip_key, row);
      if (cond != nullptr) {
        std::vector<Array> inputs = carried;
        inputs.insert(inputs.end(), captures, captures + num_cond);
        EST_ASSIGN_OR_RETURN(const std::vector<Array> holds, Call(*cond, inputs, step));
        if (holds[0].AsDouble() == 0) break;
      }
      std::vector<Array> inputs = carried;
      for (size_t k = 0; k < num_scanned; ++k) inputs.push_back(RowOf(operands[1 + n + k], row));
      inputs.insert(inputs.end(), captures + num_cond, operands.end());
      EST_ASSIGN_OR_RETURN(std::vector<Array> results, Call(*node.functions()[1], inputs, step));
      rows[row] = {results.begin() + static_cast<int64_t>(n), results.end()};
      results.resize(n);
      carried = std::move(results);
    }
    carried.push_back(Array::Scalar(trip));
    for (int o = static_cast<int>(n) + 1; o < node.num_outputs(); ++o) {
      const TensorSpec& spec = node.outputs()[static_cast<size_t>(o)];
      // A list of unknown length has as many rows as there were trips.
      Shape shape = spec.shape;
      if (shape.dim(0) < 0) shape.set_dim(0, trip);
      Array stacked(spec.dtype, shape);
      for (const auto& [row, values] : rows) {
        const Array& value = values[static_cast<size_t>(o) - n - 1];
        std::memcpy(
            static_cast<char*>(stacked.raw()) + static_cast<size_t>(row) * value.num_bytes(),
            value.raw(), value.num_bytes());
      }
      carried.push_back(std::move(stacked));
    }
    return carried;
  }

  static Array RowOf(const Array& rows, int64_t row) {
    Array value(rows.dtype(), rows.shape().Row());
    std::memcpy(value.raw(),
                static_cast<const char*>(rows.raw()) + static_cast<size_t>(row) * value.num_bytes(),
                value.num_bytes());
    return value;
  }

  const std::map<Tensor, Array>& feeds_;
  const StepContext step_;
  const KernelTier fastest_;
  std::map<int, Node*> needed_;  // by id
  std::map<const Node*, Tensor> initial_values_;
  std::map<Tensor, Array> values_;
  std::set<Tensor> constants_;
};

// sum(weights * values), computed in double.
double WeightedSum(const Array& values, const Array& weights) {
  double sum = 0;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    sum += values.AsDouble(i) * weights.AsDouble(i);
  }
  return sum;
}

// The derivative of the weighted output with respect to element i of input `which`, by central
// differences.
absl::StatusOr<double> Difference(const Tensor& y, const Array& weights,
                                  const std::vector<Tensor>& xs, const std::vector<Array>& inputs,
                                  size_t which, int64_t i) {
  constexpr double kStep = 1e-5;
  double sums[2];
  for (int side = 0; side < 2; ++side) {
    Array moved = inputs[which].Cast(DType::kFloat64).Clone();
    moved.data<double>()[i] += side == 0 ? -kStep : kStep;
    std::map<Tensor, Array> feeds;
    for (size_t k = 0; k < xs.size(); ++k) {
      feeds[xs[k]] = k == which ? moved.Cast(inputs[k].dtype()) : inputs[k];
    }
    EST_ASSIGN_OR_RETURN(const Array value, Eval(y, feeds));
    sums[side] = WeightedSum(value, weights);
  }
  return (sums[1] - sums[0]) / (2 * kStep);
}

}  // namespace

absl::StatusOr<std::vector<Array>> EvalAll(const std::vector<Tensor>& fetches,
                                           const std::map<Tensor, Array>& feeds,
                                           const StepContext& step, KernelTier fastest) {
  for (const Tensor& fetch : fetches) {
    if (fetch.graph() != nullptr) EST_RETURN_IF_ERROR(fetch.graph()->status());
    if (!fetch.valid()) return absl::InvalidArgumentError("an invalid tensor cannot be evaluated");
  }
  Evaluator evaluator(feeds, step, fastest);
  EST_RETURN_IF_ERROR(evaluator.Run(fetches));
  std::vector<Array> values;
  for (const Tensor& fetch : fetches) values.push_back(evaluator.value(fetch));
  return values;
}

absl::StatusOr<Array> Eval(const Tensor& fetch, const std::map<Tensor, Array>& feeds,
                           const StepContext& step) {
  EST_ASSIGN_OR_RETURN(const std::vector<Array> values, EvalAll({fetch}, feeds, step));
  return values[0];
}

std::vector<double> Doubles(const Tensor& fetch, const StepContext& step) {
  const absl::StatusOr<Array> value = Eval(fetch, {}, step);
  std::vector<double> elements;
  if (!value.ok()) {
    LOG(ERROR) << value.status();
    return elements;
  }
  for (int64_t i = 0; i < value->num_elements(); ++i) elements.push_back(value->AsDouble(i));
  return elements;
}

std::string ErrorOf(const std::function<void()>& build) {
  Graph graph;
  const GraphScope scope(graph);
  build();
  return std::string(graph.status().message());
}

absl::Status CheckGradients(const TensorFn& fn, const std::vector<Array>& inputs,
                            double tolerance) {
  Graph graph;
  GraphScope scope(graph);
  std::vector<Tensor> xs;
  std::map<Tensor, Array> feeds;
  for (const Array& input : inputs) {
    xs.push_back(
        graph.AddOp("Placeholder", {}, {{"dtype", input.dtype()}, {"shape", input.shape()}}));
    EST_RETURN_IF_ERROR(graph.status());
    feeds[xs.back()] = input;
  }
  const Tensor y = fn(xs);
  EST_RETURN_IF_ERROR(graph.status());
  if (!y.valid()) return absl::InvalidArgumentError("the function returned an invalid tensor");
  const Array weights = Scrambled(y.shape(), -1.0, 1.5, y.dtype());
  const Tensor grad_y =
      graph.AddOp("Placeholder", {}, {{"dtype", y.dtype()}, {"shape", y.shape()}});
  feeds[grad_y] = weights;

  std::vector<size_t> floating;
  std::vector<Tensor> differentiated;
  for (size_t k = 0; k < xs.size(); ++k) {
    if (!IsFloating(inputs[k].dtype())) continue;
    floating.push_back(k);
    differentiated.push_back(xs[k]);
  }
  const std::vector<Tensor> gradients = Gradients({y}, differentiated, {grad_y});
  EST_RETURN_IF_ERROR(graph.status());

  for (size_t g = 0; g < gradients.size(); ++g) {
    const size_t which = floating[g];
    const Array& input = inputs[which];
    Array actual(input.dtype(), input.shape());  // stays zero if no gradient flows
    if (gradients[g].valid()) {
      EST_ASSIGN_OR_RETURN(actual, Eval(gradients[g], feeds));
    }
    if (!(actual.shape() == input.shape()) || actual.dtype() != input.dtype()) {
      return absl::InternalError(absl::StrCat("the gradient of input ", which, " is ",
                                              actual.TypeString(), ", the input ",
                                              input.TypeString()));
    }
    for (int64_t i = 0; i < input.num_elements(); ++i) {
      EST_ASSIGN_OR_RETURN(const double expected, Difference(y, weights, xs, inputs, which, i));
      const double error = std::abs(actual.AsDouble(i) - expected);
      if (!(error <= tolerance * std::max(1.0, std::abs(expected)))) {
        return absl::InternalError(absl::StrCat("gradient of input ", which, ", element ", i, ": ",
                                                actual.AsDouble(i), ", finite differences give ",
                                                expected, " (tolerance ", tolerance, ")"));
      }
    }
  }
  return absl::OkStatus();
}

Array Scrambled(const Shape& shape, double low, double high, DType dtype) {
  Array array(DType::kFloat64, shape);
  const int64_t n = array.num_elements();
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) {  // Fisher-Yates shuffle
    const uint64_t j = HashSeed(17, static_cast<uint64_t>(i)) % static_cast<uint64_t>(i + 1);
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(j)]);
  }
  for (int64_t i = 0; i < n; ++i) {
    array.data<double>()[i] = low + (high - low) *
                                        (static_cast<double>(order[static_cast<size_t>(i)]) + 0.5) /
                                        static_cast<double>(n);
  }
  return array.Cast(dtype);
}

}  // namespace estimator::testing
