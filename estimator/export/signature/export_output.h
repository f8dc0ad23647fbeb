// What a model offers to those who serve it: the export_outputs of a spec, one signature each.
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

// A method and its outputs, by the names that a signature gives them. Made by the three functions
// below; what is wrong with the arguments is kept in status(), which the spec's validation returns.
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

// Named predictions; a bare tensor is called `output`. Errors: INVALID_ARGUMENT if there are none.
ExportOutput PredictOutput(const NamedTensors& outputs);

struct ClassificationOutputOptions {
  Tensor scores = {};   // floating: a score for every class, in the order of class ids
  Tensor classes = {};  // strings: labels; alone, the best ones in descending order
};
// At least one of both. Errors: INVALID_ARGUMENT if both are missing or of another dtype.
ExportOutput ClassificationOutput(const ClassificationOutputOptions& options);

// Floating values. Errors: INVALID_ARGUMENT for another dtype.
ExportOutput RegressionOutput(const Tensor& value);

// What a spec without export_outputs, or with some, offers: without any, PredictOutput of the
// predictions as `serving_default`; a single one of another name is `serving_default` as well.
// Errors: INVALID_ARGUMENT if there are several and none is `serving_default`; those of the
// outputs. Source: TF 2.15 export_utils.get_export_outputs.
absl::StatusOr<ExportOutputs> ResolveExportOutputs(ExportOutputs outputs,
                                                   const NamedTensors& predictions);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_EXPORT_OUTPUT_H_
