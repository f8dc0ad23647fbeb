// For tests of this folder: runs training steps and metric updates with the reference kernels only.
#ifndef ESTIMATOR_NN_TESTING_STEP_H_
#define ESTIMATOR_NN_TESTING_STEP_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"

namespace estimator::testing {

// Keeps the variables of a graph between steps. An error ends the test and prints its message.
class Stepper {
 public:
  explicit Stepper(Graph& graph) : graph_(graph) {}

  // Runs `num_steps` steps. Each computes all updates of `operation` from the values before the
  // step.
  void Run(const Operation& operation, const std::map<Tensor, Array>& feeds = {},
           int num_steps = 1);
  Array Eval(const Tensor& tensor, const std::map<Tensor, Array>& feeds = {});
  // The value of the variable of this name. REQUIRES: the graph has it.
  Array Value(absl::string_view variable);

 private:
  std::map<Tensor, Array> Feeds(const std::map<Tensor, Array>& feeds) const;

  Graph& graph_;
  std::map<std::string, Array> values_;  // of the variables that have been updated
};

// Returns an array's elements as doubles.
std::vector<double> Doubles(const Array& array);
// Ends the test unless every element is within `tolerance` of the expected one.
void ExpectNear(const Array& actual, const std::vector<double>& expected, double tolerance = 1e-6);
// Ends the test unless the graph holds an error whose message contains each part.
void ExpectError(const Graph& graph, const std::vector<std::string>& parts);
// Returns the names of the graph's variables in creation order.
std::vector<std::string> VariableNames(const Graph& graph);

}  // namespace estimator::testing

#endif  // ESTIMATOR_NN_TESTING_STEP_H_
