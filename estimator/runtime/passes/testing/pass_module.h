// For tests of passes: modules by hand, and their values by plain interpretation.
#ifndef ESTIMATOR_RUNTIME_PASSES_TESTING_PASS_MODULE_H_
#define ESTIMATOR_RUNTIME_PASSES_TESTING_PASS_MODULE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Builds a module node by node; names are "<op>_<index>".
class ModuleBuilder {
 public:
  Value Feed(const Shape& shape, DType dtype = DType::kFloat32);
  Value Variable(const std::string& name, const Shape& shape);
  Value Constant(Array value);
  Value Scalar(float value) { return Constant(Array::Scalar(value)); }
  // One output, f32 unless said otherwise.
  Value Op(const std::string& op, std::vector<Value> inputs, const Shape& shape, Attrs attrs = {},
           DType dtype = DType::kFloat32);
  // At the end of the step variable `name` becomes `value`.
  void Update(const std::string& name, Value value);
  void Fetch(Value value) { module.fetches.push_back(value); }
  Node& node(Value value) { return module.node(value); }

  Module module;

 private:
  Value Add(Node node);
};

// How many nodes of `op` there are.
int Count(const Module& module, absl::string_view op);
// The only node of `op`. REQUIRES: there is one.
const Node& Only(const Module& module, absl::string_view op);

// f32 numbers in [-1, 1) that look random but are the same every time.
Array Numbers(const Shape& shape, int seed = 1);

// The fetches, then the updates' values, node by node: a node's own kernel where it has one, else
// the reference kernel. Variable v has the value Numbers(shape, 100 + v).
absl::StatusOr<std::vector<Array>> Interpret(const Module& module, const std::vector<Array>& feeds);
// Empty if both modules give the same within 1e-5, else what differs.
std::string DifferenceOf(const Module& before, const Module& after,
                         const std::vector<Array>& feeds);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_TESTING_PASS_MODULE_H_
