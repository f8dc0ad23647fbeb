#include "estimator/export/testing/analyzed.h"

#include "estimator/ops/constant.h"
#include "gtest/gtest.h"

namespace estimator::testing {

Analyzed::Analyzed(const std::function<Tensor(const Tensor&)>& model,
                   const std::vector<int64_t>& sizes) {
  std::vector<SizedGraph> sized;
  for (const int64_t batch : sizes) {
    graphs_.push_back(std::make_unique<Graph>());
    const GraphScope scope(*graphs_.back());
    const Tensor of_size = model(Placeholder(DType::kFloat32, {batch, 4}, "x"));
    EXPECT_TRUE(graphs_.back()->status().ok()) << graphs_.back()->status();
    sized.push_back({graphs_.back().get(), batch, {{"y", of_size}}});
  }
  analysis = AnalyzeBatch(sized);
  y = sized[0].roots[0].tensor;
}

}  // namespace estimator::testing
