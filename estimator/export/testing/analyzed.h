// For tests of batch_analysis and of its users: builds a model for several batch sizes and analyzes
// it.
#ifndef ESTIMATOR_EXPORT_TESTING_ANALYZED_H_
#define ESTIMATOR_EXPORT_TESTING_ANALYZED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "estimator/export/any_batch/batch_analysis.h"
#include "estimator/graph/graph.h"

namespace estimator::testing {

// Calls `model` with a placeholder x: f32 [batch, 4]. Owns the graphs.
class Analyzed {
 public:
  explicit Analyzed(const std::function<Tensor(const Tensor&)>& model,
                    const std::vector<int64_t>& sizes = {2, 3, 5});

  BatchAnalysis analysis;
  Tensor y;  // the result of `model` for the first size

 private:
  std::vector<std::unique_ptr<Graph>> graphs_;
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_EXPORT_TESTING_ANALYZED_H_
