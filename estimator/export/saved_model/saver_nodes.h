// The nodes with which TensorFlow saves and restores the variables of a graph.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_SAVER_NODES_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_SAVER_NODES_H_

#include <vector>

#include "estimator/graph/variable.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

// Adds `save/Const` (the prefix of the files), `save/SaveV2`, `save/RestoreV2` and
// `save/restore_all`, and the SaverDef that names them. Does nothing if there are no variables.
//   is_resource: whether UseResourceVariables was called.
// Source: the graph of TF 2.15 tf.compat.v1.train.Saver.
void AddSaverNodes(const std::vector<Variable>& variables, bool is_resource,
                   proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVER_NODES_H_
