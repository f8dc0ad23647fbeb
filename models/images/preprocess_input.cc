#include "models/images/preprocess_input.h"

#include "estimator/estimator.h"

namespace estimator::images {
namespace {

Tensor OfChannels(float first, float second, float third) {
  return Constant(Array::Of<float>({3}, {first, second, third}));
}

}  // namespace

Tensor PreprocessInput(const Tensor& images, PreprocessMode mode) {
  if (!images.valid()) return images;
  const Tensor x = Cast(images, DType::kFloat32);
  if (mode == PreprocessMode::kTf) return x / 127.5f - 1.0f;
  if (images.rank() < 1 || images.dim(-1) != 3) {
    return images.graph()->Fail(
        InvalidArgument("PreprocessInput: images must have 3 channels, got ",
                        images.spec().ToString(), ": PreprocessMode::kTf takes any number"));
  }
  if (mode == PreprocessMode::kTorch) {
    return (x / 255.0f - OfChannels(0.485f, 0.456f, 0.406f)) / OfChannels(0.229f, 0.224f, 0.225f);
  }
  return Reverse(x, {-1}) - OfChannels(103.939f, 116.779f, 123.68f);
}

}  // namespace estimator::images
