#include "estimator/nn/testing/step.h"

#include <cmath>

#include "absl/strings/match.h"
#include "estimator/ops/testing/eval.h"
#include "glog/logging.h"

namespace estimator::testing {

std::map<Tensor, Array> Stepper::Feeds(const std::map<Tensor, Array>& feeds) const {
  std::map<Tensor, Array> all = feeds;
  for (const Variable& variable : graph_.variables()) {
    const auto found = values_.find(variable.name());
    if (found != values_.end()) all[Tensor(&graph_, variable.node(), 0)] = found->second;
  }
  return all;
}

void Stepper::Run(const Operation& operation, const std::map<Tensor, Array>& feeds, int num_steps) {
  CHECK(graph_.status().ok()) << graph_.status();
  CHECK(operation.valid());
  const std::vector<Node*> updates = CollectAssigns({operation});
  std::vector<Tensor> fetches;
  for (const Node* update : updates) {
    fetches.push_back(update->input(1));
    fetches.push_back(update->input(0));
  }
  for (int step = 0; step < num_steps; ++step) {
    const absl::StatusOr<std::vector<Array>> fetched = EvalAll(fetches, Feeds(feeds));
    CHECK(fetched.ok()) << fetched.status();
    for (size_t i = 0; i < updates.size(); ++i) {
      Array value = (*fetched)[2 * i].Clone();
      if (updates[i]->op() == "AssignAdd") {
        const Array& old = (*fetched)[2 * i + 1];
        VisitNumeric(value.dtype(), [&](auto tag) {
          using T = decltype(tag);
          for (int64_t e = 0; e < value.num_elements(); ++e) {
            value.data<T>()[e] = static_cast<T>(value.data<T>()[e] + old.data<T>()[e]);
          }
        });
      }
      values_[updates[i]->input(0).node()->name()] = value;
    }
  }
}

Array Stepper::Eval(const Tensor& tensor, const std::map<Tensor, Array>& feeds) {
  const absl::StatusOr<Array> value = testing::Eval(tensor, Feeds(feeds));
  CHECK(value.ok()) << value.status();
  return *value;
}

Array Stepper::Value(absl::string_view name) {
  const std::optional<Variable> variable = graph_.FindVariable(name);
  CHECK(variable.has_value()) << "no variable " << name;
  return Eval(variable->read());
}

std::vector<double> Doubles(const Array& array) {
  std::vector<double> values;
  for (int64_t i = 0; array.valid() && i < array.num_elements(); ++i)
    values.push_back(array.AsDouble(i));
  return values;
}

void ExpectNear(const Array& actual, const std::vector<double>& expected, double tolerance) {
  const std::vector<double> values = Doubles(actual);
  CHECK_EQ(values.size(), expected.size()) << actual.ToString();
  for (size_t i = 0; i < values.size(); ++i) {
    CHECK(std::abs(values[i] - expected[i]) <= tolerance)
        << "element " << i << " is " << values[i] << ", not " << expected[i] << " within "
        << tolerance << ", in " << actual.ToString();
  }
}

void ExpectError(const Graph& graph, const std::vector<std::string>& parts) {
  CHECK(!graph.status().ok()) << "the graph holds no error";
  for (const std::string& part : parts) {
    CHECK(absl::StrContains(graph.status().message(), part))
        << part << " is not in: " << graph.status();
  }
}

std::vector<std::string> VariableNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Variable& variable : graph.variables()) names.push_back(variable.name());
  return names;
}

}  // namespace estimator::testing
