// The signature of a SavedModel's graph: which tensors are inputs, loss, metrics and outputs.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_META_GRAPH_SIGNATURE_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_META_GRAPH_SIGNATURE_H_

#include "absl/status/status.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

// Fills inputs, input_keys, loss, metrics and info.outputs of `source`, whose nodes are read. Does
// nothing for a training graph without a signature, as in a .meta file.
// Errors: INVALID_ARGUMENT if the graph lacks the signature, or if it names a tensor that does not
// exist; UNIMPLEMENTED for a sparse tensor.
// Source: TF 2.15 export_output.py, _SupervisedOutput.
absl::Status ReadMetaGraphSignature(const TrainGraphOptions& options, ImportSource& source);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_META_GRAPH_SIGNATURE_H_
