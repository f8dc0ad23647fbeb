// The attributes that TensorFlow's op definitions require and that our nodes need not have: the
// dtypes of inputs and outputs, and the lengths of lists of inputs or outputs.
#ifndef ESTIMATOR_GRAPHDEF_ATTR_RULES_H_
#define ESTIMATOR_GRAPHDEF_ATTR_RULES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/node.h"

namespace estimator {

// The node's own attributes and the implied ones, by TensorFlow's names. An attribute of the node
// has precedence over an implied one. Source: the op definitions of TF 2.15.
Attrs TensorFlowAttrs(const Node& node);

// TensorFlow's name of an op: usually the same, but TensorFlow names a few ops differently.
std::string TensorFlowOp(absl::string_view op);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_ATTR_RULES_H_
