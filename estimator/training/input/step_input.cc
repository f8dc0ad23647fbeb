#include "estimator/training/input/step_input.h"

#include "absl/strings/str_cat.h"

namespace estimator {

InputDescription DescribeInput(const Dataset& dataset) {
  return {.pipeline = dataset.Describe(),
          .examples_per_epoch = dataset.ExamplesPerEpoch(),
          .advice = [dataset] { return dataset.Advice(); }};
}

InputDescription DescribeInput(const std::vector<Dataset>& datasets) {
  InputDescription all = DescribeInput(datasets[0]);
  if (datasets.size() == 1) return all;
  all.pipeline = absl::StrCat(datasets.size(), " x ", all.pipeline);
  for (size_t i = 1; i < datasets.size(); ++i) {
    const int64_t n = datasets[i].ExamplesPerEpoch();
    all.examples_per_epoch = n < 0 || all.examples_per_epoch < 0 ? -1 : all.examples_per_epoch + n;
  }
  return all;
}

}  // namespace estimator
