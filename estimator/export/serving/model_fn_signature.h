// The signature of a model that is built here, for a Predictor.
//
// The model is built when this is made, and never again: what it found to take any batch size
// (batch_search.h) makes the graph for each size that is asked for.
#ifndef ESTIMATOR_EXPORT_SERVING_MODEL_FN_SIGNATURE_H_
#define ESTIMATOR_EXPORT_SERVING_MODEL_FN_SIGNATURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/export/any_batch/batch_search.h"
#include "estimator/export/signature/export_graph.h"
#include "estimator/export/signature/servable_signature.h"

namespace estimator {

// Of the signature `key` of `model`, whose other sizes `build` makes, if it is tied to one:
// `batch_sizes`, now. `build` is not called any more when this returns.
// Errors: NOT_FOUND naming the signatures that there are; those of `build`.
absl::StatusOr<std::unique_ptr<const ServableSignature>> MakeModelFnSignature(
    BatchModel model, const std::string& key, const ExportGraphFn& build,
    const std::vector<int64_t>& batch_sizes = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_MODEL_FN_SIGNATURE_H_
