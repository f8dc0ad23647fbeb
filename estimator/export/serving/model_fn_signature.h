// Makes a ServableSignature of a model that a model_fn builds, for a Predictor.
//
// The model is built only while the signature is made. If the model takes any batch size
// (batch_search.h), the graph of each requested size is derived without the model_fn.
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

// Serves signature `key` of `model`. If the model is tied to one batch size, also calls `build` for
// each of `batch_sizes`. `build` is not called after this returns.
// Errors: NOT_FOUND naming the existing signatures; those of `build`.
absl::StatusOr<std::unique_ptr<const ServableSignature>> MakeModelFnSignature(
    BatchModel model, const std::string& key, const ExportGraphFn& build,
    const std::vector<int64_t>& batch_sizes = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_MODEL_FN_SIGNATURE_H_
