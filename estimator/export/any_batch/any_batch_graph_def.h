// Rewrites a GraphDef so that it takes any batch size, after what AnalyzeBatch found.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_ANY_BATCH_GRAPH_DEF_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_ANY_BATCH_GRAPH_DEF_H_

#include "estimator/export/any_batch/batch_analysis.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// Nodes keep their names. Dimensions that are the batch become unknown (placeholders, EnsureShape,
// _output_shapes); constants become Reshape's -1, or are computed from the batch size at run time.
// REQUIRES: no obstacles; `graph` is the GraphDef of the graph of the first size.
void MakeAnyBatch(const BatchAnalysis& analysis, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_ANY_BATCH_GRAPH_DEF_H_
