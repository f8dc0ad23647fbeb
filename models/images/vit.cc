#include "models/images/vit.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"

namespace estimator::images {
namespace {

class ViTBuilder {
 public:
  ViTBuilder(const Network& net, const ViTOptions& options)
      : net_(net), options_(options), head_size_(options.hidden_size / options.heads) {}

  // Returns the normalized tokens [N, 1 + P, D].
  Tensor Tokens(const Tensor& patches) const {
    const int64_t batch = patches.dim(0), hidden = options_.hidden_size;
    const int64_t count = patches.dim(1) * patches.dim(2);
    const Tensor first =
        Weight("class_token/embeddings", {1, hidden}, patches, initializers::Zeros());
    const Tensor positions = Weight("position_embedding/embeddings", {1 + count, hidden}, patches,
                                    initializers::RandomNormal({.stddev = 0.02}));
    Tensor x = Concat({BroadcastTo(Reshape(first, {1, 1, hidden}), {batch, 1, hidden}),
                       Reshape(patches, {batch, count, hidden})},
                      1);
    x = net_.Dropout(x + positions, options_.dropout_rate);
    for (int64_t i = 1; i <= options_.blocks && x.valid(); ++i) x = Block(x, i);
    return LayerNorm(x, "norm");
  }

 private:
  Tensor Weight(const std::string& name, const Shape& shape, const Tensor& x,
                const Initializer& initializer) const {
    return layers::GetWeight(name, shape, x, initializer, nullptr, options_.trainable);
  }

  Tensor LayerNorm(const Tensor& x, const std::string& name) const {
    return layers::LayerNorm(
        x, {.begin_norm_axis = -1, .epsilon = 1e-6, .trainable = options_.trainable, .name = name});
  }

  Tensor Block(const Tensor& input, int64_t i) const {
    const std::string name = absl::StrCat("block", i);
    const Tensor x = input + Attention(LayerNorm(input, name + "_norm1"), name + "_attention");
    Tensor y = LayerNorm(x, name + "_norm2");
    y = net_.Dense(y, {.units = options_.mlp_size, .activation = Gelu, .name = name + "_mlp1"});
    y = net_.Dropout(y, options_.dropout_rate);
    y = net_.Dense(y, {.units = options_.hidden_size, .name = name + "_mlp2"});
    return x + net_.Dropout(y, options_.dropout_rate);
  }

  // [N, S, D] -> [N, heads, S, D / heads]
  Tensor Heads(const Tensor& x, const std::string& name) const {
    const int64_t hidden = options_.hidden_size, heads = options_.heads;
    const Tensor kernel =
        Weight(name + "/kernel", {hidden, heads, head_size_}, x, initializers::GlorotUniform());
    const Tensor bias = Weight(name + "/bias", {heads, head_size_}, x, initializers::Zeros());
    const Tensor rows = Reshape(x, {-1, hidden});
    const Tensor y =
        BiasAdd(MatMul(rows, Reshape(kernel, {hidden, hidden})), Reshape(bias, {hidden}));
    return Transpose(Reshape(y, {x.dim(0), x.dim(1), heads, head_size_}), {0, 2, 1, 3});
  }

  // Source: TF 2.15 tf.keras.layers.MultiHeadAttention.
  Tensor Attention(const Tensor& x, const std::string& name) const {
    const int64_t hidden = options_.hidden_size;
    const Tensor query = Heads(x, name + "/query"), key = Heads(x, name + "/key"),
                 value = Heads(x, name + "/value");
    const Tensor scores = MatMul(query, key, {.transpose_b = true}) *
                          static_cast<float>(1 / std::sqrt(static_cast<double>(head_size_)));
    const Tensor context = Transpose(MatMul(Softmax(scores), value), {0, 2, 1, 3});
    const std::string output = name + "/attention_output";
    const Tensor kernel = Weight(output + "/kernel", {options_.heads, head_size_, hidden}, x,
                                 initializers::GlorotUniform());
    const Tensor bias = Weight(output + "/bias", {hidden}, x, initializers::Zeros());
    const Tensor y =
        BiasAdd(MatMul(Reshape(context, {-1, hidden}), Reshape(kernel, {hidden, hidden})), bias);
    return net_.Dropout(Reshape(y, {x.dim(0), x.dim(1), hidden}), options_.dropout_rate);
  }

  const Network& net_;
  const ViTOptions& options_;
  const int64_t head_size_;
};

std::vector<std::string> ViTProblems(const Tensor& images, const ViTOptions& options) {
  const int64_t hidden = options.hidden_size, heads = options.heads, patch = options.patch_size;
  if (patch < 1 || heads < 1 || hidden < 1 || hidden % heads != 0) {
    return {absl::StrCat("patch_size must be positive, and hidden_size a multiple of heads, got ",
                         patch, ", ", hidden, " and ", heads)};
  }
  if (!images.valid() || images.rank() != 4) return {};
  if (images.dim(1) % patch == 0 && images.dim(2) % patch == 0) return {};
  return {absl::StrCat("height and width must be multiples of ", patch, ", got ", images.dim(1),
                       "x", images.dim(2), ": resize the images")};
}

}  // namespace

Tensor ViT(const Tensor& images, const ViTOptions& options) {
  const Network net("ViT", images, options, /*min_size=*/1, ViTProblems(images, options));
  if (!net.ok()) return Network::Invalid();
  const Tensor patches = net.Conv2D(images, {.filters = options.hidden_size,
                                             .kernel_size = options.patch_size,
                                             .strides = options.patch_size,
                                             .name = "patch_embedding"});
  if (!patches.valid()) return patches;
  const Tensor tokens = ViTBuilder(net, options).Tokens(patches);
  if (!options.include_top && options.pooling != Pooling::kNone) {
    const Tensor of_patches = Slice(tokens, {0, 1, 0}, {-1, -1, -1});
    return net.Finish(
        Reshape(of_patches, {patches.dim(0), patches.dim(1), patches.dim(2), options.hidden_size}));
  }
  return net.Finish(tokens, [&](const Tensor& x) {
    const Tensor first = StridedSlice(x, {Slicing::All(), Slicing::At(0)});
    return net.Dense(first, {.units = options.classes, .name = "predictions"});
  });
}

Tensor ViTPreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kTf);
}

}  // namespace estimator::images
