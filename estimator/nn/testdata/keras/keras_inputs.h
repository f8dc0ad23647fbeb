// The inputs of generate.py.
#ifndef ESTIMATOR_NN_TESTDATA_KERAS_KERAS_INPUTS_H_
#define ESTIMATOR_NN_TESTDATA_KERAS_KERAS_INPUTS_H_

#include <cstdint>

#include "estimator/array/array.h"

namespace estimator::goldens {

struct KerasInputs {
  Array scores, logits, binary, one_hot;  // f32 [12, 4]
  Array classes;                          // i64 [12]
  Array weights;                          // f32 [12]

  KerasInputs() {
    constexpr int64_t kRows = 12, kLabels = 4;
    for (Array* array : {&scores, &logits, &binary, &one_hot})
      *array = Array(DType::kFloat32, {kRows, kLabels});
    classes = Array(DType::kInt64, {kRows});
    weights = Array(DType::kFloat32, {kRows});
    for (int64_t i = 0; i < kRows; ++i) {
      classes.data<int64_t>()[i] = (i * 5 + 2 * (i / 3)) % kLabels;
      weights.data<float>()[i] = static_cast<float>(i * 3 % 5) / 2;
      one_hot.data<float>()[i * kLabels + classes.data<int64_t>()[i]] = 1;
      for (int64_t l = 0; l < kLabels; ++l) {
        const int64_t at = i * kLabels + l;
        scores.data<float>()[at] = static_cast<float>((i * 37 + l * 53 + 11) % 101) / 101;
        logits.data<float>()[at] = (scores.data<float>()[at] - 0.5f) * 6;
        binary.data<float>()[at] = (i * 29 + l * 17 + i * i) % 7 < 3 ? 1 : 0;
      }
    }
  }
};

}  // namespace estimator::goldens

#endif  // ESTIMATOR_NN_TESTDATA_KERAS_KERAS_INPUTS_H_
