// Builds the nodes of a training graph in a Graph of ours, one after the other.
#ifndef ESTIMATOR_GRAPHDEF_TRAIN_STEP_BUILDER_H_
#define ESTIMATOR_GRAPHDEF_TRAIN_STEP_BUILDER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/train/branches.h"
#include "estimator/graphdef/train/order.h"
#include "estimator/graphdef/train/unique_rows.h"

namespace estimator {

class StepBuilder {
 public:
  // The value of `variable` that the node `reader` sees.
  using ReadFn = std::function<absl::StatusOr<Tensor>(int variable, int reader)>;
  // Changes a value on its way to a node; used for gradients on shards.
  using TransferFn = std::function<Tensor(FlatTensor from, int to, const Tensor& value)>;

  StepBuilder(const TrainNodes& nodes, const TrainOrder& order, const TrainBranches& branches,
              Graph& graph, ReadFn read)
      : nodes_(nodes), order_(order), branches_(branches), graph_(graph), read_(std::move(read)) {}

  void set_transfer(TransferFn transfer) { transfer_ = std::move(transfer); }
  // rows: as FindUniqueRows found them; it must outlive the builder.
  void set_unique_rows(const UniqueRows* rows) { unique_rows_ = rows; }
  // Whether IsVariableInitialized is true. Default: true.
  void set_variables_exist(bool exist) { variables_exist_ = exist; }

  // The tensor is given and not computed: an input.
  void Give(FlatTensor at, const Tensor& value) { given_[at] = value; }
  void SetValues(int node, std::vector<Tensor> values) { values_[node] = std::move(values); }
  // Builds a node, whose inputs are built already. Writes are the caller's: see SetValues.
  // Errors: INVALID_ARGUMENT naming the node; the graph's first error.
  absl::Status Build(int node);
  // The value of `at` that the node `reader` gets.
  absl::StatusOr<Tensor> Value(FlatTensor at, int reader);
  // Whether the tensor has a row for each row of a Unique. Those rows are imported with
  // repetitions.
  bool IsOfUnique(FlatTensor at) const { return OriginOf(at.node) >= 0; }

 private:
  absl::StatusOr<std::vector<Tensor>> Outputs(int node);
  // As Value, but an Optional that is empty gives an invalid handle.
  absl::StatusOr<Tensor> OptionalValue(FlatTensor at, int reader);
  absl::StatusOr<std::vector<Tensor>> BuildConst(int node);
  absl::StatusOr<std::vector<Tensor>> BuildMerge(int node);
  absl::StatusOr<std::vector<Tensor>> BuildSelect(int node);
  absl::StatusOr<std::vector<Tensor>> BuildUniqueSum(int node);
  absl::StatusOr<std::vector<Tensor>> BuildOp(int node);
  absl::StatusOr<Tensor> Select(const Tensor& predicate, const Tensor& yes, const Tensor& no,
                                int node);
  int OriginOf(int node) const;
  Tensor Folded(const Tensor& output, const std::string& name);

  const TrainNodes& nodes_;
  const TrainOrder& order_;
  const TrainBranches& branches_;
  Graph& graph_;
  const ReadFn read_;
  TransferFn transfer_;
  std::map<FlatTensor, Tensor> given_;
  std::map<int, std::vector<Tensor>> values_;
  const UniqueRows* unique_rows_ = nullptr;
  bool variables_exist_ = true;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TRAIN_STEP_BUILDER_H_
