// VGG16: thirteen 3x3 convolutions and three dense layers.
#ifndef MODELS_IMAGES_VGG16_H_
#define MODELS_IMAGES_VGG16_H_

#include "estimator/graph/tensor.h"
#include "estimator/training/warm_start.h"
#include "models/images/network_options.h"

namespace estimator::images {

using VGG16Options = ScaledNetworkOptions;

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32. The first dense layer fits one size only.
//   Variables: Keras'. 138,357,544 parameters with 1000 classes on 224x224.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.VGG16; Simonyan and Zisserman 2014, arXiv:1409.1556.
Tensor VGG16(const Tensor& images, const VGG16Options& options = {});

// PreprocessMode::kCaffe.
Tensor VGG16PreprocessInput(const Tensor& images);

// A map for train::InitFromCheckpoint from slim's vgg_16. It has the convolutions only: slim's fc6
// to fc8 are convolutions of other shapes.
//   scope: that of the network here, "" or "a/b/".
train::AssignmentMap VGG16FromSlim(StringArg scope = "");

}  // namespace estimator::images

#endif  // MODELS_IMAGES_VGG16_H_
