#include "estimator/export/testing/string_classes.h"

#include <map>
#include <memory>
#include <string>

#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/search.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::testing {

absl::StatusOr<ExportGraph> BuildStringClasses(int64_t batch_size) {
  ExportGraph built;
  built.graph = std::make_unique<Graph>();
  const GraphScope scope(*built.graph);
  const InputReceiver receiver =
      BuildParsingServingInputReceiverFn({{"x", FixedLenFeature{.shape = {3}}}})(batch_size);
  const Tensor scores = receiver.features.at("x");
  const Tensor names = Constant(Array::Of<std::string>({3}, {"cat", "dog", "cow"}));
  const Tensor classes = Tile(Reshape(names, {1, 3}), {scores.dim(0), 1}, "classes");
  std::map<std::string, std::string> excluded;
  built.signatures = BuildServingSignatures(
      {{"serving_default", ClassificationOutput({.scores = scores, .classes = classes})},
       {"best", PredictOutput({{"class", Gather(names, ArgMax(scores, 1))}})}},
      receiver, excluded);
  built.parsing = receiver.parsing;
  return built;
}

}  // namespace estimator::testing
