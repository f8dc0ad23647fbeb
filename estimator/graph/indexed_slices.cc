#include "estimator/graph/indexed_slices.h"

#include "estimator/graph/graph.h"

namespace estimator {
namespace {

Tensor Join(Graph& graph, std::vector<Tensor> parts) {
  const auto n = static_cast<int64_t>(parts.size());
  parts.push_back(graph.AddConst(Array::Scalar<int32_t>(0), "axis"));
  return graph.AddOp("ConcatV2", std::move(parts), {{"N", n}});
}

}  // namespace

void KeepSlices(const Tensor& dense, const IndexedSlices& slices) {
  if (dense.valid()) dense.graph()->slices()[dense] = {slices};
}

void KeepSlicesOfSum(const Tensor& dense, const std::vector<Tensor>& parts) {
  if (!dense.valid()) return;
  auto& all = dense.graph()->slices();
  std::vector<IndexedSlices> joined;
  for (const Tensor& part : parts) {
    const auto found = all.find(part);
    if (found == all.end()) return;
    joined.insert(joined.end(), found->second.begin(), found->second.end());
  }
  all[dense] = std::move(joined);
}

std::optional<IndexedSlices> SlicesOf(const Tensor& dense) {
  if (!dense.valid()) return std::nullopt;
  Graph& graph = *dense.graph();
  const auto found = graph.slices().find(dense);
  if (found == graph.slices().end()) return std::nullopt;
  std::vector<IndexedSlices>& parts = found->second;
  if (parts.size() == 1) return parts[0];
  const NameScope scope("slices", graph);
  std::vector<Tensor> values, indices;
  for (const IndexedSlices& part : parts) {
    values.push_back(part.values);
    if (part.indices.dtype() == DType::kInt64) {
      indices.push_back(part.indices);
    } else {
      indices.push_back(graph.AddOp("Cast", {part.indices},
                                    {{"SrcT", part.indices.dtype()}, {"DstT", DType::kInt64}}));
    }
  }
  parts = {{.values = Join(graph, std::move(values)), .indices = Join(graph, std::move(indices))}};
  return parts[0];
}

Tensor AddUp(const IndexedSlices& slices, int64_t num_rows) {
  if (!slices.values.valid() || !slices.indices.valid()) return slices.values;
  Graph& graph = *slices.values.graph();
  const Tensor num_segments =
      graph.AddConst(Array::Scalar(static_cast<int32_t>(num_rows)), "num_segments");
  const Tensor sum =
      graph.AddOp("UnsortedSegmentSum", {slices.values, slices.indices, num_segments});
  KeepSlices(sum, slices);
  return sum;
}

}  // namespace estimator
