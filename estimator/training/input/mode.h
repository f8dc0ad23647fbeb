// Mode: what a model_fn builds a graph for.
#ifndef ESTIMATOR_TRAINING_INPUT_MODE_H_
#define ESTIMATOR_TRAINING_INPUT_MODE_H_

#include "absl/strings/string_view.h"

namespace estimator {

enum class Mode { kTrain, kEval, kPredict };

// The names of tf.estimator.ModeKeys, for messages. The string of ModeKeys.PREDICT is "infer".
inline absl::string_view ModeName(Mode mode) {
  return mode == Mode::kTrain ? "train" : mode == Mode::kEval ? "eval" : "predict";
}

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_MODE_H_
