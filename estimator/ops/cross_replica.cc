#include "estimator/ops/cross_replica.h"

#include <set>

#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

// The inputs are x and group_assignment, a constant i32 [groups, size]; [0, 0] means all replicas.
OutputSpecs CrossReplicaSumShape(const ShapeContext& c) {
  const DType dtype = c.input(0).dtype;
  if (!IsFloating(dtype) && !IsInteger(dtype)) {
    return InvalidArgument("input is ", DTypeName(dtype), ", expected a number: Cast it");
  }
  EST_RETURN_IF_ERROR(
      CheckRank(c.input(1), 2, "group_assignment", "(groups, replicas of a group)"));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> replicas, c.ConstantInts(1));
  std::set<int64_t> seen;
  for (const int64_t replica : replicas) {
    if (replica >= 0 && seen.insert(replica).second) continue;
    return InvalidArgument("group_assignment names replica ", replica,
                           replica < 0 ? ", which is negative" : " twice");
  }
  return std::vector<TensorSpec>{c.input(0)};
}

// Both ops are stateful, so that they are never folded: their values depend on the other replicas.
EST_REGISTER_OP("CrossReplicaSum", CrossReplicaSumShape,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {AddOp("CrossReplicaSum", {grads[0], node.input(1)}), Tensor()};
                });
EST_REGISTER_OP("ReplicaId", [](const ShapeContext&) -> OutputSpecs {
  return std::vector<TensorSpec>{{DType::kInt32, {}}};
});

}  // namespace

Tensor CrossReplicaSum(const Tensor& x, const std::vector<std::vector<int64_t>>& groups,
                       StringArg name) {
  Graph& graph = GraphFor({x});
  const size_t size = groups.empty() ? 0 : groups[0].size();
  std::vector<int32_t> replicas;
  for (const std::vector<int64_t>& group : groups) {
    if (group.size() != size || group.empty()) {
      return graph.Fail(InvalidArgument("CrossReplicaSum: groups must have one size, got ", size,
                                        " and ", group.size(), " replicas"));
    }
    replicas.insert(replicas.end(), group.begin(), group.end());
  }
  const Shape shape{static_cast<int64_t>(groups.size()), static_cast<int64_t>(size)};
  const Tensor assignment =
      ConstantIn(graph, Array::FromSpan<int32_t>(shape, replicas), "group_assignment");
  return graph.AddOp("CrossReplicaSum", {x, assignment}, {}, name);
}

Tensor ReplicaId(StringArg name) { return Graph::Current().AddOp("ReplicaId", {}, {}, name); }

}  // namespace estimator
