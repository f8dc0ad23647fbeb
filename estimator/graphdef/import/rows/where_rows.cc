#include "estimator/graphdef/import/rows/where_rows.h"

#include <algorithm>

#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/op_support.h"
#include "estimator/graphdef/import/unique_rows.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

constexpr char kNotStatic[] = "reads the elements that tf.where finds, whose number is not static";

}  // namespace

WhereRows FindWhereRows(const FlatGraph& nodes, const std::vector<int>& sorted,
                        const std::vector<bool>& needed, const std::vector<FlatTensor>& results) {
  WhereRows rows;
  const auto origin_of = [&rows](int node) {
    const auto found = rows.origins.find(node);
    return found == rows.origins.end() ? -1 : found->second;
  };
  for (const int i : sorted) {
    if (!needed[static_cast<size_t>(i)]) continue;
    const std::vector<FlatTensor>& inputs = nodes.node(i).inputs;
    const absl::string_view op = nodes.op(i);
    std::vector<int> of_inputs;
    int origin = -1;
    bool mixed = false;
    for (const FlatTensor& input : inputs) {
      const int of = origin_of(input.node);
      mixed = mixed || (of >= 0 && origin >= 0 && of != origin);
      of_inputs.push_back(of);
      origin = std::max(origin, of);
    }
    const bool any = origin >= 0;
    if (op == "Where" && (any || inputs.size() != 1)) {
      rows.problems[i] = "takes one tensor";
    } else if (op == "Where") {
      rows.origins[i] = i;
    } else if (op == "CTCLoss" && inputs.size() == 4 && of_inputs[1] >= 0 &&
               of_inputs[1] == of_inputs[2] && of_inputs[0] < 0 && of_inputs[3] < 0) {
      rows.losses[i] = of_inputs[1];
    } else if (any && !mixed &&
               (IsByElement(op) || (op == "GatherNd" && inputs.size() == 2 && of_inputs[0] < 0))) {
      rows.origins[i] = origin;
    } else if (any) {
      rows.problems[i] = kNotStatic;
    }
  }
  for (const FlatTensor& result : results)
    if (origin_of(result.node) >= 0) rows.problems[result.node] = kNotStatic;
  return rows;
}

absl::StatusOr<Tensor> AllIndices(const Tensor& mask, const std::string& name) {
  const Shape& shape = mask.shape();
  if (!HasElementsAtMost(Shape{shape.num_elements(), shape.rank()}, kMaxImportedElements))
    return InvalidArgument("the mask ", mask.spec().ToString(), " is too large");
  Array indices(DType::kInt64, {shape.num_elements(), shape.rank()});
  const std::vector<int64_t> strides = shape.strides();
  int64_t* out = indices.data<int64_t>();
  for (int64_t i = 0; i < shape.num_elements(); ++i)
    for (int axis = 0; axis < shape.rank(); ++axis)
      *out++ = i / strides[static_cast<size_t>(axis)] % shape[axis];
  return mask.graph()->AddConst(indices, name);
}

Tensor WithPadding(const Tensor& values, const Tensor& mask, const Tensor& logits) {
  if (values.dtype() != DType::kInt32 || logits.rank() == 0) return values;  // the op refuses them
  const Tensor kept = Cast(Reshape(mask, {mask.shape().num_elements()}), DType::kBool);
  return Where(kept, values, logits.dim(-1) - 1);
}

}  // namespace estimator
