// The attributes that TensorFlow's op definitions ask for and that our nodes need not carry: the
// dtypes of inputs and outputs, and the length of a list of inputs or outputs.
#ifndef ESTIMATOR_GRAPHDEF_ATTR_RULES_H_
#define ESTIMATOR_GRAPHDEF_ATTR_RULES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/node.h"

namespace estimator {

// The node's own attributes and the implied ones, by TensorFlow's names. What the node says itself
// wins. Source: the op definitions of TF 2.15.
Attrs TensorFlowAttrs(const Node& node);

// TensorFlow's name of an op: the op itself, but for the few that TensorFlow calls otherwise.
std::string TensorFlowOp(absl::string_view op);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_ATTR_RULES_H_
