// What an import starts from: the nodes of a graph, and for a MetaGraphDef also its variables,
// inputs, loss, train_op and summaries.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_IMPORT_SOURCE_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_IMPORT_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

struct SourceVariable {
  int node = -1;
  std::string name;          // in checkpoints: of a whole, without `/part_0`
  FlatTensor initial_value;  // node -1: unknown
  bool trainable = false;
  bool local = false;  // not in checkpoints
  // Of one of several parts of a partitioned variable: the whole, which the Graph and checkpoints
  // have as one variable, and where the part begins.
  std::string whole;  // empty: not a part
  Shape whole_shape;
  std::vector<int64_t> begin;
  bool listed = true;  // in a collection of those that are saved, or of local ones
};

struct SourceSummary {
  SummaryRequest::Kind kind = SummaryRequest::Kind::kScalar;
  std::string tag;
  FlatTensor value;
  int max_outputs = 3;
};

struct SourceMetric {
  std::string name;  // in the signature, without `metrics/`
  FlatTensor value;
  int update = -1;  // the node that adds a batch
};

struct ImportSource {
  proto::MetaGraphDef meta_graph;
  std::unique_ptr<FlatGraph> nodes;  // with all nodes
  TrainGraphInfo info;
  std::vector<int> train_ops;                    // empty if the role is not kTrain
  FlatTensor loss;                               // node -1 if the role is kPredict
  std::vector<FlatTensor> inputs;                // those of info.inputs
  std::map<FlatTensor, std::string> input_keys;  // in the signature
  std::vector<SourceVariable> variables;         // without those that are in no collection
  std::vector<SourceSummary> summaries;
  std::vector<SourceMetric> metrics;
  std::vector<int> update_ops;
  std::map<FlatTensor, Array> feeds;
  bool counts_steps = false;     // the loop counts, not the graph (step_counter.h)
  std::string stored_step_name;  // TrainGraphOptions::global_step
};

// The names in a collection; empty if there is none of that name.
std::vector<std::string> NodeList(const proto::MetaGraphDef& meta, const char* name);
// "x:0: float32 [?,2], y:0: int32 [?]", or "none".
std::string InputList(const TrainGraphInfo& info);
// Whether a tensor has the input's dtype, and a shape that it may have.
bool FitsInput(const Tensor& given, const TrainGraphInput& wanted);

// Fills `source` from its meta_graph, except for TrainGraphInfo::obstacles and
// TrainGraphInput::used. Errors: as TrainGraph::Parse.
absl::Status ReadImportSource(const TrainGraphOptions& options, ImportSource& source);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_IMPORT_SOURCE_H_
