// ViT: a transformer encoder on patches of an image.
#ifndef MODELS_IMAGES_VIT_H_
#define MODELS_IMAGES_VIT_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

// The default is ViT-B/16.
//             hidden_size  blocks  heads  mlp_size
//   ViT-S/16  384          12      6      1536
//   ViT-L/16  1024         24      16     4096
struct ViTOptions {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  int64_t patch_size = 16;
  int64_t hidden_size = 768;  // a multiple of `heads`
  int64_t blocks = 12;
  int64_t heads = 12;
  int64_t mlp_size = 3072;
  double dropout_rate = 0;  // the paper's training on ImageNet alone has 0.1
};

// Returns the logits [N, classes]. Without the top: all tokens [N, 1 + P, hidden_size], the class
// token first; with a pooling, that of the P patches.
//   images: f32 or bf16 [N, H, W, C]; H and W are multiples of patch_size.
//   Variables, as a network of Keras' layers has them; i is 1 to `blocks`, D is hidden_size:
//     patch_embedding/{kernel,bias}
//     class_token/embeddings [1, D], position_embedding/embeddings [1 + P, D]
//     block<i>_norm1/{gamma,beta}, block<i>_norm2/{gamma,beta}, norm/{gamma,beta}
//     block<i>_attention/{query,key,value}/{kernel,bias}       [D, heads, D / heads]
//     block<i>_attention/attention_output/{kernel,bias}        [heads, D / heads, D]
//     block<i>_mlp1/{kernel,bias}, block<i>_mlp2/{kernel,bias}, predictions/{kernel,bias}
//   86,567,656 parameters with 1000 classes on 224x224. The positions fit one size of images.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: Dosovitskiy et al. 2020, arXiv:2010.11929. Keras 2.15 has no ViT.
Tensor ViT(const Tensor& images, const ViTOptions& options = {});

// PreprocessMode::kTf.
Tensor ViTPreprocessInput(const Tensor& images);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_VIT_H_
