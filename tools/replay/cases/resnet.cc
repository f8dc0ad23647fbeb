// The model_fn of models/imagenet with an eighth of the width. The same networks and the same
// training step are in testdata/reference/{resnet,resnet18,resnet50_v1,resnet50_v1_5}.
#include "models/imagenet/resnet.h"

#include "models/imagenet/resnet_model.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

Model Resnet(int depth, imagenet::ResnetVersion version, bool whole = false) {
  const int64_t batch_size = whole ? 4 : depth == 18 ? 12 : 32;
  imagenet::ResnetParams params;
  params.network = {.resnet_depth = depth,
                    .resnet_version = version,
                    .num_label_classes = whole ? 1000 : 6,
                    .width = whole ? 64 : 8};
  params.learning_rate = {.base_learning_rate = 0.5,
                          .train_batch_size = batch_size,
                          .num_train_images = 2 * batch_size,
                          .train_steps = whole         ? 4
                                         : depth == 18 ? 8
                                                       : 3};
  params.label_smoothing = 0.1;
  return Model(imagenet::ResnetModelFn, params);
}

}  // namespace

Cases ResnetCases() {
  return {{"resnet18", Resnet(18, imagenet::ResnetVersion::kV1_5)},
          {"resnet50_v1", Resnet(50, imagenet::ResnetVersion::kV1)},
          {"resnet50_v1_5", Resnet(50, imagenet::ResnetVersion::kV1_5)}};
}

Cases WholeResnetCases() {
  return {{"resnet18", Resnet(18, imagenet::ResnetVersion::kV1_5, /*whole=*/true)},
          {"resnet50_v1", Resnet(50, imagenet::ResnetVersion::kV1, /*whole=*/true)},
          {"resnet50_v1_5", Resnet(50, imagenet::ResnetVersion::kV1_5, /*whole=*/true)}};
}

Model Resnet18Version1() { return Resnet(18, imagenet::ResnetVersion::kV1); }

}  // namespace estimator::replay
