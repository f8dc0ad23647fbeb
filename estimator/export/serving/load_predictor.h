// A Predictor of a SavedModel: one that we exported, or one of TensorFlow's whose ops are here.
//
//   EST_ASSIGN_OR_RETURN(const auto serve, LoadPredictor("export/1700000000"));
//   EST_ASSIGN_OR_RETURN(const ArrayMap outputs, serve->Predict({{"image", images}}));
#ifndef ESTIMATOR_EXPORT_SERVING_LOAD_PREDICTOR_H_
#define ESTIMATOR_EXPORT_SERVING_LOAD_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/export/saved_model/saved_model_reader.h"
#include "estimator/export/serving/predictor.h"
#include "estimator/export/signature/export_output.h"

namespace estimator {

struct LoadPredictorOptions {
  std::set<std::string> tags = {"serve"};
  std::string signature_key = kDefaultServingSignatureKey;
  // To compute, by name; a request then has the inputs that they need. None: all outputs.
  std::vector<std::string> outputs = {};
  // Of a model that runs with some numbers of rows only, though its signature says any: one of
  // them, to try first. None: 1, 2, 8 and 120.
  std::optional<int64_t> batch_size = std::nullopt;
  PredictorOptions predictor = {};
};

// Reads the model's files once; the folder is not looked at again. (But for inputs that leave open
// more than their first size, the batch: of these the first request says the shapes, and reads the
// variables.)
// Errors: as SavedModelReader::Open and Import, and Predictor::Create.
// Source: TF 1.15 tf.contrib.predictor.from_saved_model.
absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(absl::string_view saved_model_dir,
                                                         const LoadPredictorOptions& options = {});

// Of an open model, with a signature that the caller puts together: of a `.meta` file, which has
// none, or of tensors inside. options.tags and signature_key are not looked at.
absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(
    std::shared_ptr<const SavedModelReader> reader, SavedSignature signature,
    const LoadPredictorOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_LOAD_PREDICTOR_H_
