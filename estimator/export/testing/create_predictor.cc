#include "estimator/export/testing/create_predictor.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/export/any_batch/batch_search.h"
#include "estimator/export/serving/model_fn_signature.h"

namespace estimator::testing {

absl::StatusOr<std::unique_ptr<Predictor>> CreatePredictor(const ExportGraphFn& build,
                                                           std::shared_ptr<VariableStore> variables,
                                                           const std::string& key,
                                                           const PredictorOptions& options) {
  EST_ASSIGN_OR_RETURN(BatchModel model, FindBatchModel(build));
  EST_ASSIGN_OR_RETURN(auto source, MakeModelFnSignature(std::move(model), key, build));
  return Predictor::Create(std::move(source), std::move(variables), options);
}

}  // namespace estimator::testing
