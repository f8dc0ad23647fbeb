#include "models/images/inception_v3.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"
#include "models/images/slim_map.h"

namespace estimator::images {
namespace {

// The name of convolution i, or of its batch normalization: Keras numbers them.
std::string NumberedLayer(absl::string_view layer, int i) {
  return i == 0 ? std::string(layer) : absl::StrCat(layer, "_", i);
}

// A convolution, its batch normalization and a relu.
struct InceptionConv {
  int64_t filters;
  layers::Size2D kernel_size;
  int64_t strides = 1;
  Padding padding = Padding::kSame;
};

class InceptionBuilder {
 public:
  InceptionBuilder(const Network& net, double width) : net_(net), width_(width) {}

  Tensor Build(const Tensor& images) {
    Tensor x = Branch(images, {{32, 3, 2, kValid}, {32, 3, 1, kValid}, {64, 3}});
    x = HalvingPool(x);
    x = HalvingPool(Branch(x, {{80, 1, 1, kValid}, {192, 3, 1, kValid}}));
    for (const int64_t pooled : {32, 64, 64}) x = Block35(x, pooled);
    x = Join({Branch(x, {{384, 3, 2, kValid}}),  //
              Branch(x, {{64, 1}, {96, 3}, {96, 3, 2, kValid}}), HalvingPool(x)});
    for (const int64_t filters : {128, 160, 160, 192}) x = Block17(x, filters);
    x = Join({Branch(x, {{192, 1}, {320, 3, 2, kValid}}),
              Branch(x, {{192, 1}, {192, {1, 7}}, {192, {7, 1}}, {192, 3, 2, kValid}}),
              HalvingPool(x)});
    return Block8(Block8(x));
  }

 private:
  static constexpr Padding kValid = Padding::kValid;

  static Tensor HalvingPool(const Tensor& x) {
    return layers::MaxPooling2D(x, {.pool_size = 3, .strides = 2});
  }
  static Tensor Join(const std::vector<Tensor>& branches) { return Concat(branches, 3); }

  // Convolutions, one after the other.
  Tensor Branch(const Tensor& input, const std::vector<InceptionConv>& convolutions) {
    Tensor x = input;
    for (const InceptionConv& conv : convolutions) {
      x = net_.Conv2D(x, {.filters = Scaled(conv.filters, width_),
                          .kernel_size = conv.kernel_size,
                          .strides = conv.strides,
                          .padding = conv.padding,
                          .use_bias = false,
                          .name = NumberedLayer("conv2d", number_)});
      x = Relu(net_.BatchNormalization(
          x, {.scale = false, .name = NumberedLayer("batch_normalization", number_)}));
      ++number_;
    }
    return x;
  }

  Tensor PoolBranch(const Tensor& x, int64_t filters) {
    return Branch(
        layers::AveragePooling2D(x, {.pool_size = 3, .strides = 1, .padding = Padding::kSame}),
        {{filters, 1}});
  }

  // Blocks are named by their height and width for images of 299x299.
  Tensor Block35(const Tensor& x, int64_t pooled) {
    return Join({Branch(x, {{64, 1}}), Branch(x, {{48, 1}, {64, 5}}),
                 Branch(x, {{64, 1}, {96, 3}, {96, 3}}), PoolBranch(x, pooled)});
  }

  Tensor Block17(const Tensor& x, int64_t n) {
    return Join({Branch(x, {{192, 1}}), Branch(x, {{n, 1}, {n, {1, 7}}, {192, {7, 1}}}),
                 Branch(x, {{n, 1}, {n, {7, 1}}, {n, {1, 7}}, {n, {7, 1}}, {192, {1, 7}}}),
                 PoolBranch(x, 192)});
  }

  // A branch that splits at its end.
  Tensor Split3(const Tensor& x) {
    return Join({Branch(x, {{384, {1, 3}}}), Branch(x, {{384, {3, 1}}})});
  }

  Tensor Block8(const Tensor& x) {
    return Join({Branch(x, {{320, 1}}), Split3(Branch(x, {{384, 1}})),
                 Split3(Branch(x, {{448, 1}, {384, 3}})), PoolBranch(x, 192)});
  }

  const Network& net_;
  const double width_;
  int number_ = 0;  // of the next convolution
};

// Slim's convolutions in the order of Keras' numbers. In a block, 1/0b_5x5 is
// Branch_1/Conv2d_0b_5x5; two names differ from the others' pattern.
struct SlimBlock {
  const char* name;
  const char* layers;
};
constexpr char kSlimBlock17[] =
    "0/0a_1x1 1/0a_1x1 1/0b_1x7 1/0c_7x1 2/0a_1x1 2/0b_7x1 2/0c_1x7 2/0d_7x1 2/0e_1x7 3/0b_1x1";
constexpr SlimBlock kSlimInceptionV3[] = {
    {"", "1a_3x3 2a_3x3 2b_3x3 3b_1x1 4a_3x3"},
    {"Mixed_5b", "0/0a_1x1 1/0a_1x1 1/0b_5x5 2/0a_1x1 2/0b_3x3 2/0c_3x3 3/0b_1x1"},
    {"Mixed_5c", "0/0a_1x1 1/0b_1x1 1/Conv_1_0c_5x5 2/0a_1x1 2/0b_3x3 2/0c_3x3 3/0b_1x1"},
    {"Mixed_5d", "0/0a_1x1 1/0a_1x1 1/0b_5x5 2/0a_1x1 2/0b_3x3 2/0c_3x3 3/0b_1x1"},
    {"Mixed_6a", "0/1a_1x1 1/0a_1x1 1/0b_3x3 1/1a_1x1"},
    {"Mixed_6b", kSlimBlock17},
    {"Mixed_6c", kSlimBlock17},
    {"Mixed_6d", kSlimBlock17},
    {"Mixed_6e", kSlimBlock17},
    {"Mixed_7a", "0/0a_1x1 0/1a_3x3 1/0a_1x1 1/0b_1x7 1/0c_7x1 1/1a_3x3"},
    {"Mixed_7b",
     "0/0a_1x1 1/0a_1x1 1/0b_1x3 1/0b_3x1 2/0a_1x1 2/0b_3x3 2/0c_1x3 2/0d_3x1 3/0b_1x1"},
    {"Mixed_7c",
     "0/0a_1x1 1/0a_1x1 1/0b_1x3 1/0c_3x1 2/0a_1x1 2/0b_3x3 2/0c_1x3 2/0d_3x1 3/0b_1x1"},
};

std::string SlimLayer(absl::string_view block, absl::string_view layer) {
  if (block.empty()) return absl::StrCat("Conv2d_", layer);
  const absl::string_view name = layer.substr(2);
  return absl::StrCat(block, "/Branch_", layer.substr(0, 1), "/",
                      absl::StartsWith(name, "Conv") ? "" : "Conv2d_", name);
}

}  // namespace

Tensor InceptionV3(const Tensor& images, const InceptionV3Options& options) {
  const Network net("InceptionV3", images, options, /*min_size=*/75);
  if (!net.ok()) return Network::Invalid();
  return net.Finish(InceptionBuilder(net, options.width).Build(images));
}

Tensor InceptionV3PreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kTf);
}

train::AssignmentMap InceptionV3FromSlim(StringArg scope) {
  SlimMap slim("InceptionV3/", scope);
  int number = 0;
  for (const auto& [block, layers] : kSlimInceptionV3) {
    for (const absl::string_view layer : absl::StrSplit(layers, ' ')) {
      const std::string from = SlimLayer(block, layer);
      slim.Conv(from, NumberedLayer("conv2d", number), /*use_bias=*/false);
      slim.BatchNorm(from + "/BatchNorm", NumberedLayer("batch_normalization", number),
                     /*scale=*/false);
      ++number;
    }
  }
  return slim.map();
}

}  // namespace estimator::images
