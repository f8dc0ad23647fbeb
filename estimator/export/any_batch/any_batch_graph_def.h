// Rewrites a GraphDef so that it takes any batch size, from the result of AnalyzeBatch.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_ANY_BATCH_GRAPH_DEF_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_ANY_BATCH_GRAPH_DEF_H_

#include "estimator/export/any_batch/batch_analysis.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// Nodes keep their names. Dimensions that depend on the batch become unknown in placeholders,
// EnsureShape and _output_shapes. Constants that depend on it become the -1 of a Reshape, or are
// computed from the batch size at run time.
// REQUIRES: `analysis` has no obstacles, and `graph` is the GraphDef of the first size's graph.
void MakeAnyBatch(const BatchAnalysis& analysis, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_ANY_BATCH_GRAPH_DEF_H_
