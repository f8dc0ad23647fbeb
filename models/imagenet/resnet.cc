#include "models/imagenet/resnet.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator::imagenet {

const std::vector<int>& ResnetDepths() { return images::ResNetDepths(); }

absl::Status CheckResnetOptions(const ResnetOptions& options) {
  std::vector<std::string> problems;
  if (!absl::c_linear_search(ResnetDepths(), options.resnet_depth)) {
    problems.push_back(absl::StrCat("resnet_depth must be one of ",
                                    absl::StrJoin(ResnetDepths(), ", "), ", got ",
                                    options.resnet_depth));
  }
  if (options.num_label_classes < 1) {
    problems.push_back(
        absl::StrCat("num_label_classes must be positive, got ", options.num_label_classes));
  }
  if (options.width < 1)
    problems.push_back(absl::StrCat("width must be positive, got ", options.width));
  if (problems.empty()) return absl::OkStatus();
  return InvalidArgument("Resnet: ", absl::StrJoin(problems, "; "));
}

Tensor Resnet(const Tensor& images, Mode mode, const ResnetOptions& options) {
  if (!images.valid()) return images;
  if (absl::Status status = CheckResnetOptions(options); !status.ok())
    return images.graph()->Fail(std::move(status));
  const bool is_floating = images.dtype() == DType::kFloat32 || images.dtype() == DType::kBfloat16;
  if (!is_floating || images.shape().rank() != 4 || images.dim(3) != 3) {
    return images.graph()->Fail(InvalidArgument(
        "Resnet: images must be f32 or bf16 [N,H,W,3], got ", images.spec().ToString()));
  }
  return images::ResNet(images, {.training = mode == Mode::kTrain,
                                 .classes = options.num_label_classes,
                                 .depth = options.resnet_depth,
                                 .version = options.resnet_version,
                                 .style = images::ResNetStyle::kTpu,
                                 .width = static_cast<double>(options.width) / 64});
}

std::string ResnetVersionName(ResnetVersion version) {
  return version == ResnetVersion::kV1 ? "1" : "1.5";
}

absl::StatusOr<ResnetVersion> ParseResnetVersion(absl::string_view name) {
  for (const ResnetVersion version : {ResnetVersion::kV1, ResnetVersion::kV1_5}) {
    if (name == ResnetVersionName(version)) return version;
  }
  return InvalidArgument("resnet_version must be 1 or 1.5, got '", name, "'");
}

}  // namespace estimator::imagenet
