#include "models/images/resnet.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"
#include "models/images/slim_map.h"

namespace estimator::images {
namespace {

constexpr int kResNetGroups = 4;

struct ResNetDepth {
  bool bottleneck;
  std::vector<int> blocks;  // of the four groups
};

const std::map<int, ResNetDepth>& ResNetTable() {
  static const auto* const depths = new std::map<int, ResNetDepth>{
      {18, {false, {2, 2, 2, 2}}},  {34, {false, {3, 4, 6, 3}}},  {50, {true, {3, 4, 6, 3}}},
      {101, {true, {3, 4, 23, 3}}}, {152, {true, {3, 8, 36, 3}}}, {200, {true, {3, 24, 36, 3}}},
  };
  return *depths;
}

// conv2_block1 for the first block of group 0.
std::string BlockName(int group, int block) {
  return absl::StrCat("conv", group + 2, "_block", block + 1);
}

// Builds the layers of one network.
class ResNetBuilder {
 public:
  ResNetBuilder(const Network& net, const ResNetOptions& options)
      : net_(net),
        options_(options),
        depth_(ResNetTable().at(options.depth)),
        tpu_(options.style == ResNetStyle::kTpu),
        v2_(options.version == ResNetVersion::kV2) {}

  Tensor Build(const Tensor& images) const {
    Tensor x = Named(Conv(images, Scaled(64, options_.width), 7, 2, "conv1"), "initial_conv");
    if (!v2_) x = Relu(Normalize(x, "conv1"));
    x = Named(FirstPool(x), "initial_max_pool");
    for (int group = 0; group < kResNetGroups; ++group) x = Group(x, group);
    if (v2_) x = Relu(Normalize(x, "post"));
    if (!tpu_) return net_.Finish(x);
    return net_.Finish(x, [this](const Tensor& features) { return TpuTop(features); });
  }

 private:
  // The official network's name of a value, which its users find it by.
  Tensor Named(const Tensor& x, const char* name) const { return tpu_ ? Identity(x, name) : x; }

  // A convolution. The padding of a strided one depends on the size of the kernel only, not on the
  // size of the image, where Padding::kSame would add less at the beginning.
  Tensor Conv(const Tensor& x, int64_t filters, int64_t kernel_size, int64_t strides,
              const std::string& name, bool use_bias = true) const {
    const int64_t before = (kernel_size - 1) / 2, after = kernel_size - 1 - before;
    const bool pad = strides > 1;
    return net_.Conv2D(
        pad ? ZeroPad(x, before, after) : x,
        {.filters = filters,
         .kernel_size = kernel_size,
         .strides = strides,
         .padding = pad ? Padding::kValid : Padding::kSame,
         .use_bias = use_bias && !tpu_,
         .kernel_initializer = tpu_ ? initializers::VarianceScaling() : Initializer(),
         .name = tpu_ ? "" : name + "_conv"});
  }

  Tensor Normalize(const Tensor& x, const std::string& name, bool last_of_block = false) const {
    const bool start_at_0 = tpu_ && last_of_block;
    return net_.BatchNormalization(
        x, {.momentum = tpu_ ? 0.9 : 0.99,
            .epsilon = tpu_ ? 1e-5 : 1.001e-5,
            .gamma_initializer = start_at_0 ? initializers::Zeros() : initializers::Ones(),
            .name = tpu_ ? "" : name + "_bn"});
  }

  Tensor FirstPool(const Tensor& x) const {
    return layers::MaxPooling2D(
        tpu_ ? x : ZeroPad(x, 1, 1),
        {.pool_size = 3, .strides = 2, .padding = tpu_ ? Padding::kSame : Padding::kValid});
  }

  Tensor Group(const Tensor& input, int group) const {
    Tensor x = input;
    const int64_t filters = Scaled(64 << group, options_.width);
    const int64_t outputs = depth_.bottleneck ? 4 * filters : filters;
    for (int block = 0; block < depth_.blocks[group] && x.valid(); ++block) {
      const bool last = block + 1 == depth_.blocks[group];
      const bool halves = v2_ ? last && group + 1 < kResNetGroups : block == 0 && group > 0;
      const int64_t strides = halves ? 2 : 1;
      const bool changes = x.dim(3) != outputs || (!v2_ && strides > 1);
      const bool project = block == 0 && (tpu_ || changes);
      const std::string name = BlockName(group, block);
      x = v2_ ? PreactivatedBlock(x, filters, strides, project, name)
              : Block(x, filters, strides, project, name);
    }
    return Named(x, absl::StrCat("block_group", group + 1).c_str());
  }

  Tensor Block(const Tensor& x, int64_t filters, int64_t strides, bool project,
               const std::string& name) const {
    const int64_t outputs = depth_.bottleneck ? 4 * filters : filters;
    Tensor shortcut = x;
    if (project) {
      shortcut = Normalize(Conv(x, outputs, 1, strides, name + "_0"), name + "_0");
    }
    Tensor y;
    if (depth_.bottleneck) {
      const bool v1 = options_.version == ResNetVersion::kV1;
      y = Relu(Normalize(Conv(x, filters, 1, v1 ? strides : 1, name + "_1"), name + "_1"));
      y = Relu(Normalize(Conv(y, filters, 3, v1 ? 1 : strides, name + "_2"), name + "_2"));
      y = Normalize(Conv(y, outputs, 1, 1, name + "_3"), name + "_3", /*last_of_block=*/true);
    } else {
      y = Relu(Normalize(Conv(x, filters, 3, strides, name + "_1"), name + "_1"));
      y = Normalize(Conv(y, outputs, 3, 1, name + "_2"), name + "_2", /*last_of_block=*/true);
    }
    return Relu(y + shortcut);
  }

  Tensor PreactivatedBlock(const Tensor& x, int64_t filters, int64_t strides, bool project,
                           const std::string& name) const {
    const int64_t outputs = depth_.bottleneck ? 4 * filters : filters;
    const Tensor active = Relu(Normalize(x, name + "_preact"));
    Tensor shortcut = x;
    if (project) {
      shortcut = Conv(active, outputs, 1, strides, name + "_0");
    } else if (strides > 1) {
      shortcut = layers::MaxPooling2D(x, {.pool_size = 1, .strides = strides});
    }
    Tensor y;
    if (depth_.bottleneck) {
      y = Conv(active, filters, 1, 1, name + "_1", /*use_bias=*/false);
      y = Relu(Normalize(y, name + "_1"));
      y = Conv(y, filters, 3, strides, name + "_2", /*use_bias=*/false);
      y = Relu(Normalize(y, name + "_2"));
      y = Conv(y, outputs, 1, 1, name + "_3");
    } else {
      y = Conv(active, filters, 3, strides, name + "_1", /*use_bias=*/false);
      y = Relu(Normalize(y, name + "_1"));
      y = Conv(y, outputs, 3, 1, name + "_2");
    }
    return shortcut + y;
  }

  Tensor TpuTop(const Tensor& features) const {
    Tensor x = features;
    if (!x.valid()) return x;
    x = layers::AveragePooling2D(x, {.pool_size = {x.dim(1), x.dim(2)}, .strides = 1});
    x = Named(x, "final_avg_pool");
    x = Reshape(x, {-1, x.dim(3)});
    x = net_.Dense(x, {.units = options_.classes,
                       .kernel_initializer = initializers::RandomNormal({.stddev = 0.01})});
    return Named(x, "final_dense");
  }

  const Network& net_;
  const ResNetOptions& options_;
  const ResNetDepth& depth_;
  const bool tpu_, v2_;
};

}  // namespace

const std::vector<int>& ResNetDepths() {
  static const auto* const names = [] {
    auto* result = new std::vector<int>;
    for (const auto& [depth, unused] : ResNetTable()) result->push_back(depth);
    return result;
  }();
  return *names;
}

Tensor ResNet(const Tensor& images, const ResNetOptions& options) {
  const bool tpu = options.style == ResNetStyle::kTpu;
  std::vector<std::string> problems;
  if (!ResNetTable().contains(options.depth)) {
    problems.push_back(absl::StrCat("depth must be one of ", absl::StrJoin(ResNetDepths(), ", "),
                                    ", got ", options.depth));
  }
  if (tpu && options.version == ResNetVersion::kV2) {
    problems.push_back("ResNetStyle::kTpu has no v2: use ResNetStyle::kKeras");
  }
  const Network net("ResNet", images, options, tpu ? 1 : 32, std::move(problems));
  if (!net.ok()) return Network::Invalid();
  return ResNetBuilder(net, options).Build(images);
}

Tensor ResNetPreprocessInput(const Tensor& images, ResNetVersion version) {
  switch (version) {
    case ResNetVersion::kV1:
      return PreprocessInput(images, PreprocessMode::kCaffe);
    case ResNetVersion::kV1_5:
      return PreprocessInput(images, PreprocessMode::kTorch);
    case ResNetVersion::kV2:
      break;
  }
  return PreprocessInput(images, PreprocessMode::kTf);
}

train::AssignmentMap ResNetFromSlim(const ResNetOptions& options, StringArg scope) {
  const auto depth = ResNetTable().find(options.depth);
  if (depth == ResNetTable().end() || !depth->second.bottleneck ||
      options.version == ResNetVersion::kV1_5 || options.style == ResNetStyle::kTpu) {
    Graph::Current().Fail(absl::InvalidArgumentError(
        "ResNetFromSlim: slim has depths 50, 101, 152 and 200, in v1 and v2; the names here are "
        "those of ResNetStyle::kKeras"));
    return {};
  }
  const bool v2 = options.version == ResNetVersion::kV2;
  const std::string version = v2 ? "v2" : "v1";
  SlimMap slim(absl::StrCat("resnet_", version, "_", options.depth, "/"), scope);
  slim.Conv("conv1", "conv1_conv", /*use_bias=*/v2);
  if (v2) slim.BatchNorm("postnorm", "post_bn");
  if (!v2) slim.BatchNorm("conv1/BatchNorm", "conv1_bn");
  for (int group = 0; group < kResNetGroups; ++group) {
    for (int block = 0; block < depth->second.blocks[group]; ++block) {
      const std::string from =
          absl::StrCat("block", group + 1, "/unit_", block + 1, "/bottleneck_", version, "/");
      const std::string to = BlockName(group, block);
      if (v2) slim.BatchNorm(from + "preact", to + "_preact_bn");
      for (int i = block == 0 ? 0 : 1; i <= 3; ++i) {
        const std::string layer = i == 0 ? from + "shortcut" : absl::StrCat(from, "conv", i);
        const bool normalized = !v2 || i == 1 || i == 2;
        slim.Conv(layer, absl::StrCat(to, "_", i, "_conv"), /*use_bias=*/!normalized);
        if (normalized) slim.BatchNorm(layer + "/BatchNorm", absl::StrCat(to, "_", i, "_bn"));
      }
    }
  }
  return slim.map();
}

}  // namespace estimator::images
