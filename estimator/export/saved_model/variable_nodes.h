// The nodes of variables in a GraphDef: their form in TensorFlow 2, their collections, and the
// nodes that save and restore them.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_VARIABLE_NODES_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_VARIABLE_NODES_H_

#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
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

// Adds `save/Const` (the prefix of the files), `save/SaveV2`, `save/RestoreV2` and
// `save/restore_all`, and the SaverDef that names them. Does nothing if there are no variables.
//   is_resource: whether UseResourceVariables was called.
// Source: the graph of TF 2.15 tf.compat.v1.train.Saver.
void AddSaverNodes(const std::vector<Variable>& variables, bool is_resource,
                   proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_VARIABLE_NODES_H_
