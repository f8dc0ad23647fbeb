#include "tpu/stablehlo/collectives.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// The inputs are x and group_assignment, i32 [groups, size]; [0, 0] means all replicas.
LoweringResult LowerCrossReplicaSum(Writer& w, const LoweringArgs& args) {
  const Array* const assignment = args.constant(1);
  const int num_replicas = args.step.num_replicas;
  if (assignment == nullptr) return NotLowerable("group_assignment must be a constant");
  if (assignment->num_elements() == 0)
    return Values{AllReduceSum(w, args.input(0), AllReplicas(num_replicas))};
  EST_ASSIGN_OR_RETURN(const Ints replicas, args.ConstantInts(1));
  Ints sorted = replicas;
  // All replicas run this op, so each of them must be in exactly one group.
  std::sort(sorted.begin(), sorted.end());
  if (sorted != AllReplicas(num_replicas)[0]) {
    return NotLowerable(absl::StrCat("its groups must name each of the ", num_replicas,
                                     " replicas once, given ", assignment->ToString()));
  }
  const auto size = static_cast<size_t>(assignment->shape().dim(1));
  std::vector<Ints> groups;
  for (size_t i = 0; i < replicas.size(); i += size) {
    groups.emplace_back(replicas.begin() + static_cast<int64_t>(i),
                        replicas.begin() + static_cast<int64_t>(i + size));
  }
  return Values{AllReduceSum(w, args.input(0), groups)};
}

EST_REGISTER_STABLEHLO("CrossReplicaSum", LowerCrossReplicaSum);
EST_REGISTER_STABLEHLO("ReplicaId", [](Writer& w, const LoweringArgs& args) -> LoweringResult {
  return Values{w.Bitcast(args.step.replica, DType::kInt32)};
});

}  // namespace

std::vector<Ints> AllReplicas(int num_replicas) { return {Count(num_replicas)}; }

Value AllReduceSum(Writer& w, const Value& x, const std::vector<Ints>& groups) {
  // Numbers of 16 bits are summed in float32 and rounded once, as in runtime/all_reduce.h.
  const bool is_half = x.dtype() == DType::kBfloat16 || x.dtype() == DType::kFloat16;
  const Value wide = is_half ? w.Convert(x, DType::kFloat32) : x;
  const Value sum = w.Ops("all_reduce", {wide}, {wide.type},
                          absl::StrCat("replica_groups = ", MatrixAttr(groups)),
                          {w.ScalarRegion("add", wide.dtype())})[0];
  return w.Convert(sum, x.dtype());
}

Value FromReplica0(Writer& w, const Value& x, const Value& replica, int num_replicas) {
  if (num_replicas == 1) return x;
  // Zeros added to a value leave it as it is.
  const Value number = x.dtype() == DType::kBool ? w.Convert(x, DType::kInt32) : x;
  const Value is_first = w.Compare("EQ", replica, w.FillInt(replica.type, 0));
  const Value mine = w.Select(is_first, number, w.Fill({number.dtype(), Shape{}}, 0));
  return w.Convert(AllReduceSum(w, mine, AllReplicas(num_replicas)), x.dtype());
}

}  // namespace estimator::tpu::stablehlo
