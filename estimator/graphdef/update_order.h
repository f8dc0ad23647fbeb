// The nodes that must run before an update in TensorFlow, where updates change variables in place.
#ifndef ESTIMATOR_GRAPHDEF_UPDATE_ORDER_H_
#define ESTIMATOR_GRAPHDEF_UPDATE_ORDER_H_

#include <map>
#include <vector>

#include "estimator/graph/graph.h"

namespace estimator {

// Whether the node is an Apply* op, which returns the new values of its first inputs.
bool IsUpdateRule(const Node& node);
// Whether the node is an Assign or AssignAdd.
bool IsAssign(const Node& node);
// The variable whose value is input k of an update rule; null if the input is another value.
const Node* StateVariable(const Node& rule, int k);

// Here a step reads every variable as it was when the step began. In TensorFlow a node could read a
// variable after its update. This returns, for every update of a training step, the nodes that read
// its variables, in creation order, so that the update can wait for them. Nodes that depend on an
// update themselves and the Assigns of initializers are not included. An Assign also waits for the
// update rules that read its variable (Adam's powers of beta).
std::map<const Node*, std::vector<const Node*>> ReadersBeforeUpdates(const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_UPDATE_ORDER_H_
