// Loads a Predictor from a SavedModel, written by us or by TensorFlow. For ops without an import
// rule, loading fails and names them.
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
#include "estimator/base/string_arg.h"
#include "estimator/export/saved_model/saved_model_reader.h"
#include "estimator/export/serving/predictor.h"
#include "estimator/export/signature/export_output.h"

namespace estimator {

struct LoadPredictorOptions {
  std::set<std::string> tags = {"serve"};
  std::string signature_key = kDefaultServingSignatureKey;
  // Names of the outputs to compute. Requests need only the inputs of these. None: all outputs.
  std::vector<std::string> outputs = {};
  // The batch size that LoadPredictor compiles for. Set it if the model runs only with certain
  // batch sizes although its signature allows any. None: the first of 1, 2, 8 and 120 that works.
  std::optional<int64_t> batch_size = std::nullopt;
  PredictorOptions predictor = {};
};

// Loads the signature options.signature_key. Reads the model's files once and never again, with one
// exception: if an input has unknown sizes besides the batch, the first request determines the
// shapes, and reads the variables.
// Errors: as SavedModelReader::Open and Import, and Predictor::Create.
// Source: TF 1.15 tf.contrib.predictor.from_saved_model.
absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(StringArg saved_model_dir,
                                                         const LoadPredictorOptions& options = {});

// Loads a signature that the caller made for an open model. Use it for a `.meta` file, which has no
// signatures, or to compute inner tensors of a model. options.tags and options.signature_key are
// not used.
absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(
    std::shared_ptr<const SavedModelReader> reader, SavedSignature signature,
    const LoadPredictorOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_LOAD_PREDICTOR_H_
