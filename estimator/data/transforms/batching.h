// What Batch and PaddedBatch have in common.
#ifndef ESTIMATOR_DATA_TRANSFORMS_BATCHING_H_
#define ESTIMATOR_DATA_TRANSFORMS_BATCHING_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/saturating.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {

struct Batching {
  int64_t batch_size;
  bool drop_remainder;

  // The number of batches of n elements.
  int64_t BatchesOf(int64_t n) const {
    return drop_remainder ? n / batch_size : CeilOfRatio(n, batch_size);
  }
  ElementSpec SpecOfBatches(const ElementSpec& row) const {
    return WithBatchAxis(row, drop_remainder ? batch_size : Shape::kUnknownDim);
  }
};

// A node that joins batch_size elements of its input.
class BatchingNode : public TransformNode {
 public:
  BatchingNode(absl::string_view name, NodePtr input, Batching batching, SourcePtr source = nullptr)
      : TransformNode(std::move(input), std::move(source)), name_(name), batching_(batching) {}
  std::string Label() const override {
    return absl::StrCat(name_, "(", batching_.batch_size,
                        batching_.drop_remainder ? ", drop_remainder)" : ")");
  }
  int64_t Cardinality() const override {
    const int64_t n = input()->Cardinality();
    return n < 0 ? n : batching_.BatchesOf(n);
  }
  int64_t ExamplesPerEpoch() const override {
    const int64_t n = input()->ExamplesPerEpoch();
    const bool drops = batching_.drop_remainder && input()->Cardinality() >= 0;
    return drops ? n - n % batching_.batch_size : n;
  }

 protected:
  const Batching& batching() const { return batching_; }

 private:
  const std::string name_;
  const Batching batching_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_BATCHING_H_
