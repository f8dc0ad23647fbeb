// For tests of batch_analysis and of what is made from it: a model, built for several batch sizes
// and analyzed.
#ifndef ESTIMATOR_EXPORT_TESTING_ANALYZED_H_
#define ESTIMATOR_EXPORT_TESTING_ANALYZED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "estimator/export/any_batch/batch_analysis.h"
#include "estimator/graph/graph.h"

namespace estimator::testing {

// `model` of a placeholder x: f32 [batch, 4]. Its graphs live as long as this does.
class Analyzed {
 public:
  explicit Analyzed(const std::function<Tensor(const Tensor&)>& model,
                    const std::vector<int64_t>& sizes = {2, 3, 5});

  BatchAnalysis analysis;
  Tensor y;  // what `model` gave for the first size

 private:
  std::vector<std::unique_ptr<Graph>> graphs_;
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_EXPORT_TESTING_ANALYZED_H_
