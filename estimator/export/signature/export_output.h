// ExportOutput: the outputs of an exported model. Each of a spec's export_outputs becomes a
// signature.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_EXPORT_OUTPUT_H_
#define ESTIMATOR_EXPORT_SIGNATURE_EXPORT_OUTPUT_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/export/signature/named_tensors.h"

namespace estimator {

// On disk: do not change. TensorFlow's signature_constants.
inline constexpr char kDefaultServingSignatureKey[] = "serving_default";
inline constexpr char kPredictMethodName[] = "tensorflow/serving/predict";
inline constexpr char kClassifyMethodName[] = "tensorflow/serving/classify";
inline constexpr char kRegressMethodName[] = "tensorflow/serving/regress";

// A method and its outputs by their names in the signature. The three functions below make it. They
// keep an error of their arguments in status(), which the spec's validation returns.
class ExportOutput {
 public:
  ExportOutput(std::string method_name, NamedTensors outputs, absl::Status status)
      : method_name_(std::move(method_name)),
        outputs_(std::move(outputs)),
        status_(std::move(status)) {}

  const std::string& method_name() const { return method_name_; }
  const NamedTensors& outputs() const { return outputs_; }
  const absl::Status& status() const { return status_; }

 private:
  std::string method_name_;
  NamedTensors outputs_;
  absl::Status status_;
};

// Signature key -> output.
using ExportOutputs = std::map<std::string, ExportOutput>;

// Predictions by name. A single tensor without a name is called `output`.
// Errors (in status): INVALID_ARGUMENT if there are none.
ExportOutput PredictOutput(const NamedTensors& outputs);

struct ClassificationOutputOptions {
  Tensor scores = {};   // floating: a score for every class, in the order of the class ids
  Tensor classes = {};  // string: class labels; without scores, the best labels, the best first
};
// The result of a classification. At least one of the options must be given.
// Errors (in status): INVALID_ARGUMENT if both are missing, or if a dtype is wrong.
ExportOutput ClassificationOutput(const ClassificationOutputOptions& options);

// The result of a regression.
//   value: floating.
// Errors (in status): INVALID_ARGUMENT for another dtype.
ExportOutput RegressionOutput(const Tensor& value);

// Returns the outputs that a spec exports:
//   no export_outputs         PredictOutput(predictions) as `serving_default`
//   one of any name           that one, under its name and as `serving_default`
//   several                   those
// Errors: INVALID_ARGUMENT if there are several and none is `serving_default`; those of the
// outputs.
// Source: TF 2.15 export_utils.get_export_outputs.
absl::StatusOr<ExportOutputs> ResolveExportOutputs(ExportOutputs outputs,
                                                   const NamedTensors& predictions);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_EXPORT_OUTPUT_H_
