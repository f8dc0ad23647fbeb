// For tests of predictors: makes a Predictor as MakePredictor of an estimator does.
#ifndef ESTIMATOR_EXPORT_TESTING_CREATE_PREDICTOR_H_
#define ESTIMATOR_EXPORT_TESTING_CREATE_PREDICTOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/export/serving/predictor.h"
#include "estimator/export/signature/export_graph.h"
#include "estimator/export/signature/export_output.h"

namespace estimator::testing {

absl::StatusOr<std::unique_ptr<Predictor>> CreatePredictor(
    const ExportGraphFn& build, std::shared_ptr<VariableStore> variables,
    const std::string& key = kDefaultServingSignatureKey, const PredictorOptions& options = {});

}  // namespace estimator::testing

#endif  // ESTIMATOR_EXPORT_TESTING_CREATE_PREDICTOR_H_
