// Variables as TensorFlow 2 wants them in a GraphDef.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_RESOURCE_VARIABLES_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_RESOURCE_VARIABLES_H_

#include "estimator/graph/graph.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

// Makes the reference variables that GraphToGraphDef writes resource variables, which
// tf.saved_model.load can lift out of the graph: VariableV2 becomes VarHandleOp, the Identity that
// reads it ReadVariableOp, Assign and AssignAdd AssignVariableOp and AssignAddVariableOp.
// REQUIRES: no optimizer's update rules (Apply*) in `def`: those take references.
void UseResourceVariables(const Graph& graph, proto::GraphDef* def);

// Adds the collections `variables` and `trainable_variables` (and `local_variables`), which say
// which nodes are variables.
//   is_resource: whether UseResourceVariables was called.
void AddVariableCollections(const Graph& graph, bool is_resource, proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_RESOURCE_VARIABLES_H_
