// Which nodes must have run before an update, where updates change variables in place, as in
// TensorFlow.
#ifndef ESTIMATOR_GRAPHDEF_UPDATE_ORDER_H_
#define ESTIMATOR_GRAPHDEF_UPDATE_ORDER_H_

#include <map>
#include <vector>

#include "estimator/graph/graph.h"

namespace estimator {

// Apply* rules, which give the new values of their first inputs.
bool IsUpdateRule(const Node& node);
// Assign and AssignAdd.
bool IsAssign(const Node& node);
// The variable that input k of an update rule is the value of; null if it is some other value.
const Node* StateVariable(const Node& rule, int k);

// Here a step reads every variable as it stood when the step began; in TensorFlow a reader may come
// too late. So, for every update of a training step: the nodes that read its variables, in creation
// order. Left out are nodes that depend on an update themselves, and initializers' Assigns. An
// Assign also comes after the rules that read its variable (Adam's powers of beta).
std::map<const Node*, std::vector<const Node*>> ReadersBeforeUpdates(const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_UPDATE_ORDER_H_
