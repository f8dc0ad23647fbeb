#include "models/images/networks.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/images/densenet.h"
#include "models/images/efficientnet.h"
#include "models/images/efficientnet_v2.h"
#include "models/images/inception_v3.h"
#include "models/images/mobilenet.h"
#include "models/images/mobilenet_v2.h"
#include "models/images/mobilenet_v3.h"
#include "models/images/resnet.h"
#include "models/images/vgg16.h"
#include "models/images/vit.h"
#include "models/images/xception.h"

namespace estimator::images {
namespace {

// The options that all networks have, with `options` for the others.
template <typename Options>
Options WithCommon(const NetworkOptions& common, Options options = {}) {
  options.training = common.training;
  options.include_top = common.include_top;
  options.classes = common.classes;
  options.pooling = common.pooling;
  options.trainable = common.trainable;
  options.weights = common.weights;
  options.softmax = common.softmax;
  return options;
}

template <typename Options, Tensor (*network)(const Tensor&, const Options&)>
Tensor Build(const Tensor& images, const NetworkOptions& options) {
  return network(images, WithCommon<Options>(options));
}

template <int depth, ResNetVersion version>
Tensor BuildResNet(const Tensor& images, const NetworkOptions& options) {
  return ResNet(images, WithCommon<ResNetOptions>(options, {.depth = depth, .version = version}));
}

template <ResNetVersion version>
Tensor PreprocessResNet(const Tensor& images) {
  return ResNetPreprocessInput(images, version);
}

template <int depth, ResNetVersion version>
NetworkEntry OfResNet(absl::string_view suffix) {
  return {absl::StrCat("ResNet", depth, suffix), BuildResNet<depth, version>,
          PreprocessResNet<version>, 224, depth >= 50 && version != ResNetVersion::kV1_5};
}

template <int model>
NetworkEntry OfEfficientNet(int64_t image_size) {
  return {absl::StrCat("EfficientNetB", model),
          [](const Tensor& images, const NetworkOptions& options) {
            return EfficientNet(images, WithCommon<EfficientNetOptions>(options, {.model = model}));
          },
          EfficientNetPreprocessInput, image_size, true};
}

template <ResNetVersion version>
void AddResNets(absl::string_view suffix, std::vector<NetworkEntry>& networks) {
  networks.push_back(OfResNet<18, version>(suffix));
  networks.push_back(OfResNet<34, version>(suffix));
  networks.push_back(OfResNet<50, version>(suffix));
  networks.push_back(OfResNet<101, version>(suffix));
  networks.push_back(OfResNet<152, version>(suffix));
}

std::vector<NetworkEntry> AllNetworks() {
  std::vector<NetworkEntry> networks = {
      {"VGG16", Build<VGG16Options, VGG16>, VGG16PreprocessInput, 224, true}};
  AddResNets<ResNetVersion::kV1>("", networks);
  AddResNets<ResNetVersion::kV1_5>("V1.5", networks);
  AddResNets<ResNetVersion::kV2>("V2", networks);
  networks.insert(
      networks.end(),
      {{"InceptionV3", Build<InceptionV3Options, InceptionV3>, InceptionV3PreprocessInput, 299,
        true},
       {"Xception", Build<XceptionOptions, Xception>, XceptionPreprocessInput, 299, true},
       {"DenseNet121", Build<DenseNet121Options, DenseNet121>, DenseNetPreprocessInput, 224, true},
       {"MobileNet", Build<MobileNetOptions, MobileNet>, MobileNetPreprocessInput, 224, true},
       {"MobileNetV2", Build<MobileNetV2Options, MobileNetV2>, MobileNetV2PreprocessInput, 224,
        true},
       {"MobileNetV3Small", Build<MobileNetV3Options, MobileNetV3Small>, MobileNetV3PreprocessInput,
        224, true},
       {"MobileNetV3Large", Build<MobileNetV3Options, MobileNetV3Large>, MobileNetV3PreprocessInput,
        224, true},
       OfEfficientNet<0>(224),
       OfEfficientNet<1>(240),
       OfEfficientNet<2>(260),
       OfEfficientNet<3>(300),
       OfEfficientNet<4>(380),
       OfEfficientNet<5>(456),
       OfEfficientNet<6>(528),
       OfEfficientNet<7>(600),
       {"EfficientNetV2S", Build<EfficientNetV2Options, EfficientNetV2S>,
        EfficientNetV2PreprocessInput, 384, true},
       {"ViT", Build<ViTOptions, ViT>, ViTPreprocessInput, 224, false}});
  return networks;
}

}  // namespace

const std::vector<NetworkEntry>& Networks() {
  static const auto* const networks = new std::vector<NetworkEntry>(AllNetworks());
  return *networks;
}

absl::StatusOr<NetworkEntry> FindNetwork(StringArg name) {
  for (const NetworkEntry& network : Networks()) {
    if (absl::EqualsIgnoreCase(network.name, name)) return network;
  }
  const auto name_of = [](std::string* out, const NetworkEntry& network) {
    out->append(network.name);
  };
  return InvalidArgument("there is no network '", name,
                         "'; known: ", absl::StrJoin(Networks(), ", ", name_of));
}

}  // namespace estimator::images
