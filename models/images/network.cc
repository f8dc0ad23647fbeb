#include "models/images/network.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/images/weights.h"

namespace estimator::images {

int64_t Scaled(int64_t filters, double width) {
  return std::max<int64_t>(1, std::llround(static_cast<double>(filters) * width));
}

Tensor ZeroPad(const Tensor& x, int64_t before, int64_t after) {
  return Pad(x, {{0, 0}, {before, after}, {before, after}, {0, 0}});
}

void Network::Begin(StringArg function, const Tensor& images, int64_t min_size,
                    std::vector<std::string> problems) {
  if (!images.valid()) return;
  const bool is_floating = images.dtype() == DType::kFloat32 || images.dtype() == DType::kBfloat16;
  if (!is_floating || images.rank() != 4) {
    problems.push_back(absl::StrCat("images must be f32 or bf16 [N,H,W,C], got ",
                                    images.spec().ToString(),
                                    is_floating ? "" : ": the pre-processing function casts them"));
  } else if (images.dim(1) < min_size || images.dim(2) < min_size) {
    problems.push_back(absl::StrCat("images must be at least ", min_size, "x", min_size, ", got ",
                                    images.dim(1), "x", images.dim(2), ": resize them"));
  }
  if (options_.include_top && options_.classes < 1) {
    problems.push_back(absl::StrCat("classes must be positive, got ", options_.classes));
  }
  if (!problems.empty()) {
    images.graph()->Fail(InvalidArgument(function, ": ", absl::StrJoin(problems, "; ")));
    return;
  }
  ok_ = true;
  scope_ = GetVariableScope().name;
  if (!scope_.empty()) scope_ += "/";
  first_variable_ = images.graph()->variables().size();
}

Tensor Network::Conv2D(const Tensor& x, layers::Conv2DOptions options) const {
  options.trainable = options_.trainable;
  return layers::Conv2D(x, options);
}

Tensor Network::DepthwiseConv2D(const Tensor& x, layers::SeparableConv2DOptions options) const {
  options.trainable = options_.trainable;
  return layers::DepthwiseConv2D(x, options);
}

Tensor Network::SeparableConv2D(const Tensor& x, layers::SeparableConv2DOptions options) const {
  options.trainable = options_.trainable;
  return layers::SeparableConv2D(x, options);
}

Tensor Network::Dense(const Tensor& x, layers::DenseOptions options) const {
  options.trainable = options_.trainable;
  return layers::Dense(x, options);
}

Tensor Network::BatchNormalization(const Tensor& x,
                                   layers::BatchNormalizationOptions options) const {
  options.training = options_.training && options_.trainable;
  options.trainable = options_.trainable;
  return layers::BatchNormalization(x, options);
}

Tensor Network::Dropout(const Tensor& x, double rate) const {
  return layers::Dropout(x, {.rate = rate, .training = options_.training});
}

Tensor Network::Finish(const Tensor& features,
                       const std::function<Tensor(const Tensor&)>& top) const {
  Tensor x = features;
  if (options_.include_top) {
    x = top ? top(x)
            : Dense(layers::GlobalAveragePooling2D(x),
                    {.units = options_.classes, .name = "predictions"});
    if (options_.softmax) x = Softmax(x);
  } else if (options_.pooling == Pooling::kAvg) {
    x = layers::GlobalAveragePooling2D(x);
  } else if (options_.pooling == Pooling::kMax) {
    x = GlobalMaxPool(x);
  }
  if (!x.valid() || options_.weights.empty()) return x;
  const std::vector<Variable>& all = x.graph()->variables();
  InitFromWeights(options_.weights, scope_, {all.begin() + first_variable_, all.end()});
  return x;
}

}  // namespace estimator::images
