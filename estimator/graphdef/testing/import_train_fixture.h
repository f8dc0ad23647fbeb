// For tests: imports a SmallTraining.
#ifndef ESTIMATOR_GRAPHDEF_TESTING_IMPORT_TRAIN_FIXTURE_H_
#define ESTIMATOR_GRAPHDEF_TESTING_IMPORT_TRAIN_FIXTURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/graphdef/testing/small_training.h"
#include "gtest/gtest.h"

namespace estimator::testing {

class ImportTrainFixture : public ::testing::Test {
 protected:
  // Each input is f32 [4,1].
  absl::StatusOr<ImportedTrainGraph> Import(const SmallTraining& training, int num_shards = 1,
                                            bool is_training = true) {
    EST_ASSIGN_OR_RETURN(const TrainGraph source, TrainGraph::Parse(training.Bytes(), "test"));
    const GraphScope scope(graph_);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < source.info().inputs.size(); ++i) {
      inputs.push_back(graph_.AddOp("Placeholder", {},
                                    {{"dtype", DType::kFloat32}, {"shape", Shape{4, 1}}}, "input"));
    }
    return source.Import(
        {.inputs = inputs, .num_shards = num_shards, .training = is_training, .fetches = {}},
        graph_);
  }

  // The op that computes what is assigned to `variable`.
  static const Node* ValueOf(const ImportedTrainGraph& imported, const std::string& variable) {
    for (const Node* assign : CollectAssigns({imported.train_op}))
      if (assign->input(0).node()->name() == variable) return assign->input(1).node();
    return nullptr;
  }

  Graph graph_;
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_GRAPHDEF_TESTING_IMPORT_TRAIN_FIXTURE_H_
