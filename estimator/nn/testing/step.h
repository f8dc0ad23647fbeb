// For tests of this folder: runs training steps and metric updates with the reference kernels
// alone.
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

// The variables of a graph, kept between steps. An error ends the test with its message.
class Stepper {
 public:
  explicit Stepper(Graph& graph) : graph_(graph) {}

  // One step: all of `operation`'s updates, computed from the values before it.
  void Run(const Operation& operation, const std::map<Tensor, Array>& feeds = {},
           int num_steps = 1);
  Array Eval(const Tensor& tensor, const std::map<Tensor, Array>& feeds = {});
  // By name. REQUIRES: there is such a variable.
  Array Value(absl::string_view variable);

 private:
  std::map<Tensor, Array> Feeds(const std::map<Tensor, Array>& feeds) const;

  Graph& graph_;
  std::map<std::string, Array> values_;  // those that have been updated
};

// An array's elements as doubles.
std::vector<double> Doubles(const Array& array);
// Ends the test unless every element is within `tolerance` of what is expected.
void ExpectNear(const Array& actual, const std::vector<double>& expected, double tolerance = 1e-6);
// Ends the test unless the graph holds an error whose message contains each part.
void ExpectError(const Graph& graph, const std::vector<std::string>& parts);
// Names of the graph's variables, in creation order.
std::vector<std::string> VariableNames(const Graph& graph);

}  // namespace estimator::testing

#endif  // ESTIMATOR_NN_TESTING_STEP_H_
