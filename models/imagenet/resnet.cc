#include "models/imagenet/resnet.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator::imagenet {
namespace {

using namespace layers;  // NOLINT: a network reads like its Python twin

struct Depth {
  bool bottleneck;
  std::vector<int> blocks;  // of the four groups
};

const std::map<int, Depth>& Depths() {
  static const auto* const depths = new std::map<int, Depth>{
      {18, {false, {2, 2, 2, 2}}},  {34, {false, {3, 4, 6, 3}}},  {50, {true, {3, 4, 6, 3}}},
      {101, {true, {3, 4, 23, 3}}}, {152, {true, {3, 8, 36, 3}}}, {200, {true, {3, 24, 36, 3}}},
  };
  return *depths;
}

// Builds the layers of one network.
class Builder {
 public:
  Builder(Mode mode, const ResnetOptions& options) : mode_(mode), options_(options) {}

  Tensor Build(const Tensor& images) const {
    const Depth& depth = Depths().at(options_.resnet_depth);
    Tensor x = Identity(Conv(images, options_.width, 7, 2), "initial_conv");
    x = Relu(Normalize(x));
    x = Identity(MaxPooling2D(x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame}),
                 "initial_max_pool");
    for (int group = 0; group < 4; ++group) {
      const int64_t filters = options_.width << group;
      for (int block = 0; block < depth.blocks[group]; ++block) {
        // The first block of a group changes the number of channels, and from the second group on
        // halves the size.
        const int64_t strides = block == 0 && group > 0 ? 2 : 1;
        x = depth.bottleneck ? BottleneckBlock(x, filters, strides, block == 0)
                             : ResidualBlock(x, filters, strides, block == 0);
      }
      x = Identity(x, absl::StrCat("block_group", group + 1));
    }
    if (!x.valid()) return x;
    x = AveragePooling2D(x, {.pool_size = {x.dim(1), x.dim(2)}, .strides = 1});
    x = Identity(x, "final_avg_pool");
    x = Reshape(x, {-1, x.dim(3)});
    x = Dense(x, {.units = options_.num_label_classes,
                  .kernel_initializer = initializers::RandomNormal({.stddev = 0.01})});
    return Identity(x, "final_dense");
  }

 private:
  // A convolution. The padding of a strided one depends on the size of the kernel only, not on the
  // size of the image, where Padding::kSame would add less at the beginning.
  static Tensor Conv(const Tensor& x, int64_t filters, int64_t kernel_size, int64_t strides) {
    const int64_t before = (kernel_size - 1) / 2, after = kernel_size - 1 - before;
    const bool pad = strides > 1;
    return Conv2D(pad ? Pad(x, {{0, 0}, {before, after}, {before, after}, {0, 0}}) : x,
                  {.filters = filters,
                   .kernel_size = kernel_size,
                   .strides = strides,
                   .padding = pad ? Padding::kValid : Padding::kSame,
                   .use_bias = false,
                   .kernel_initializer = initializers::VarianceScaling()});
  }

  Tensor Normalize(const Tensor& x, bool init_zero = false) const {
    return BatchNormalization(
        x, {.momentum = 0.9,
            .epsilon = 1e-5,
            .training = mode_ == Mode::kTrain,
            .gamma_initializer = init_zero ? initializers::Zeros() : initializers::Ones()});
  }

  Tensor ResidualBlock(const Tensor& x, int64_t filters, int64_t strides, bool project) const {
    const Tensor shortcut = project ? Normalize(Conv(x, filters, 1, strides)) : x;
    Tensor y = Relu(Normalize(Conv(x, filters, 3, strides)));
    y = Normalize(Conv(y, filters, 3, 1), /*init_zero=*/true);
    return Relu(y + shortcut);
  }

  Tensor BottleneckBlock(const Tensor& x, int64_t filters, int64_t strides, bool project) const {
    const bool v1 = options_.resnet_version == ResnetVersion::kV1;
    const Tensor shortcut = project ? Normalize(Conv(x, 4 * filters, 1, strides)) : x;
    Tensor y = Relu(Normalize(Conv(x, filters, 1, v1 ? strides : 1)));
    y = Relu(Normalize(Conv(y, filters, 3, v1 ? 1 : strides)));
    y = Normalize(Conv(y, 4 * filters, 1, 1), /*init_zero=*/true);
    return Relu(y + shortcut);
  }

  const Mode mode_;
  const ResnetOptions& options_;
};

}  // namespace

const std::vector<int>& ResnetDepths() {
  static const auto* const names = [] {
    auto* result = new std::vector<int>;
    for (const auto& [depth, unused] : Depths()) result->push_back(depth);
    return result;
  }();
  return *names;
}

absl::Status CheckResnetOptions(const ResnetOptions& options) {
  std::vector<std::string> problems;
  if (!Depths().contains(options.resnet_depth)) {
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
  return absl::InvalidArgumentError(absl::StrCat("Resnet: ", absl::StrJoin(problems, "; ")));
}

Tensor Resnet(const Tensor& images, Mode mode, const ResnetOptions& options) {
  if (!images.valid()) return images;
  if (absl::Status status = CheckResnetOptions(options); !status.ok())
    return images.graph()->Fail(std::move(status));
  const bool is_floating = images.dtype() == DType::kFloat32 || images.dtype() == DType::kBfloat16;
  if (!is_floating || images.shape().rank() != 4 || images.dim(3) != 3) {
    return images.graph()->Fail(absl::InvalidArgumentError(absl::StrCat(
        "Resnet: images must be f32 or bf16 [N,H,W,3], got ", images.spec().ToString())));
  }
  return Builder(mode, options).Build(images);
}

std::string ResnetVersionName(ResnetVersion version) {
  return version == ResnetVersion::kV1 ? "1" : "1.5";
}

absl::StatusOr<ResnetVersion> ParseResnetVersion(absl::string_view name) {
  for (const ResnetVersion version : {ResnetVersion::kV1, ResnetVersion::kV1_5}) {
    if (name == ResnetVersionName(version)) return version;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("resnet_version must be 1 or 1.5, got '", name, "'"));
}

}  // namespace estimator::imagenet
