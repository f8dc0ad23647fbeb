// Writes variables into a GraphDef in the form that TensorFlow 2 needs.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_RESOURCE_VARIABLES_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_RESOURCE_VARIABLES_H_

#include "estimator/graph/graph.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

// Converts the reference variables that GraphToGraphDef writes into resource variables, which
// tf.saved_model.load can extract from the graph:
//   VariableV2                      becomes VarHandleOp
//   the Identity that reads it      becomes ReadVariableOp
//   Assign                          becomes AssignVariableOp
//   AssignAdd                       becomes AssignAddVariableOp
// REQUIRES: `def` has no update rules of optimizers (Apply*), because these take references.
void UseResourceVariables(const Graph& graph, proto::GraphDef* def);

// Adds the collections `variables`, `trainable_variables` and `local_variables`, which list the
// nodes that are variables.
//   is_resource: whether UseResourceVariables was called.
void AddVariableCollections(const Graph& graph, bool is_resource, proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_RESOURCE_VARIABLES_H_
