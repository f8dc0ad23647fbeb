// Imports TensorFlow's ops that become several of our ops, or none.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OP_CONVERSIONS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OP_CONVERSIONS_H_

#include <cstdint>
#include <vector>

#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// Adds a node and returns all its outputs; none if the graph keeps an error.
std::vector<Tensor> AddOutputs(Graph& graph, absl::string_view op, std::vector<Tensor> inputs,
                               Attrs attrs, absl::string_view name);

// The integers of a tensor that is known when the graph is built, as a shape is.
// Errors: UNIMPLEMENTED if it is not known, INVALID_ARGUMENT if it is not int32 or int64.
absl::StatusOr<std::vector<int64_t>> ConstantIntsOf(const Tensor& tensor);

// Adds the rules of these ops.
void AddOpConversions(ImportRules& rules);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OP_CONVERSIONS_H_
