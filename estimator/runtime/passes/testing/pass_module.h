// For tests of passes: builds modules by hand, and interprets them without a runtime.
#ifndef ESTIMATOR_RUNTIME_PASSES_TESTING_PASS_MODULE_H_
#define ESTIMATOR_RUNTIME_PASSES_TESTING_PASS_MODULE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/kernels/testing/attrs.h"  // IWYU pragma: export
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Builds a module node by node. A node's name is "<op>_<index>".
class ModuleBuilder {
 public:
  Value Feed(const Shape& shape, DType dtype = DType::kFloat32);
  Value Variable(const std::string& name, const Shape& shape);
  Value Constant(Array value);
  Value Scalar(float value) { return Constant(Array::Scalar(value)); }
  // A node with one output, f32 by default.
  Value Op(const std::string& op, std::vector<Value> inputs, const Shape& shape, Attrs attrs = {},
           DType dtype = DType::kFloat32);
  // Sets variable `name` to `value` at the end of the step.
  void Update(const std::string& name, Value value);
  void Fetch(Value value) { module.fetches.push_back(value); }
  Node& node(Value value) { return module.node(value); }

  Module module;

 private:
  Value Add(Node node);
};

// Makes kernels that compute nothing: only what they say of themselves counts.
//   alias_input: the input that output 0 may write over; -1: none.
KernelFactory Inert(int alias_input = -1, size_t scratch_bytes = 0);

// The number of nodes of `op`.
int Count(const Module& module, absl::string_view op);
// The only node of `op`. REQUIRES: there is exactly one.
const Node& Only(const Module& module, absl::string_view op);

// f32 numbers in [-1, 1) that look random but are always the same.
Array Numbers(const Shape& shape, int seed = 1);

// The node's kernel, or the one that SelectKernels would take.
std::shared_ptr<Kernel> KernelOf(const Module& module, const Node& node);

// The values of the fetches, then of the updates. Runs a node that a pass has made with KernelOf,
// others with the reference kernel. Variable v has the value Numbers(shape, 100 + v).
absl::StatusOr<std::vector<Array>> Interpret(const Module& module, const std::vector<Array>& feeds);
// Returns "" if both modules give the same values within 1e-5, else the difference.
std::string DifferenceOf(const Module& before, const Module& after,
                         const std::vector<Array>& feeds);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_TESTING_PASS_MODULE_H_
