// A Predictor of a SavedModel: one that we exported, or one of TensorFlow's whose ops are here.
#ifndef ESTIMATOR_EXPORT_LOAD_PREDICTOR_H_
#define ESTIMATOR_EXPORT_LOAD_PREDICTOR_H_

#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/export/predictor.h"

namespace estimator {

struct LoadPredictorOptions {
  std::set<std::string> tags = {"serve"};
  std::string signature_key = kDefaultServingSignatureKey;
  PredictorOptions predictor = {};
};

// Reads the model's files once; the folder is not looked at again.
// Errors: as SavedModelReader::Open and Import, and Predictor::Create; UNIMPLEMENTED for an input
// that leaves open more than its first size, the batch.
// Source: TF 1.15 tf.contrib.predictor.from_saved_model.
absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(absl::string_view saved_model_dir,
                                                         const LoadPredictorOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_LOAD_PREDICTOR_H_
