// Makes the variables of an imported graph, with the initial values that the graph computes.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_VARIABLE_MAKER_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_VARIABLE_MAKER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/branches.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/variable_order.h"

namespace estimator {

class VariableMaker {
 public:
  // needed: nodes by number. Variables of checkpoints are made even if nothing needs them.
  VariableMaker(const ImportSource& source, const std::vector<bool>& needed, Graph& graph)
      : source_(source), needed_(needed), graph_(graph) {}

  // Errors: INVALID_ARGUMENT if an initial value does not fit; the graph's first error.
  absl::Status Make();
  // The value of the variable of a node before the step: of a part, a slice of the whole.
  Tensor Value(int node);
  // The nodes of all parts of the variable to which a node belongs, in their order; else the node.
  std::vector<int> Parts(int node) const;
  int AxisOf(int part) const;  // REQUIRES: a node of several parts
  // By node; all parts of a partitioned variable have the whole.
  const std::map<int, Variable>& all() const { return variables_; }
  // One sentence for all initial values that cannot be imported.
  std::vector<std::string> warnings() const;

 private:
  bool Wanted(const SourceVariable& variable) const;
  void MarkTrainingVariables();
  absl::Status PlanInitialValues();
  absl::Status MakeOne(const SourceVariable& variable);
  absl::StatusOr<Tensor> InitialValue(const SourceVariable& variable, const TensorSpec& spec);
  absl::StatusOr<Tensor> Read(int node);
  absl::Status MakeWhole(const SourceVariable& variable);
  Tensor PartOf(const Tensor& whole, int node) const;

  const ImportSource& source_;
  const std::vector<bool>& needed_;
  Graph& graph_;
  std::map<int, const SourceVariable*> sources_;
  std::map<int, std::string> problems_;  // why an initial value cannot be imported
  std::optional<VariableOrder> order_;
  std::optional<Branches> branches_;
  std::unique_ptr<NodeBuilder> builder_;
  std::set<int> built_, open_;
  std::map<int, Variable> variables_;
  std::map<int, Tensor> values_;  // of Value
  std::string first_without_value_;
  int num_without_value_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_VARIABLE_MAKER_H_
