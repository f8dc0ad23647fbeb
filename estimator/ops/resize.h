// Images of another size, in the graph. image/resize has the same for the input pipeline.
#ifndef ESTIMATOR_OPS_RESIZE_H_
#define ESTIMATOR_OPS_RESIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"

namespace estimator {

// Which points of input and output coincide. The default is TensorFlow 1's: the top left corners of
// the top left pixels. tf.image.resize of TensorFlow 2 has half_pixel_centers.
struct ResizeImagesOptions {
  bool align_corners = false;       // the centers of the four corner pixels coincide
  bool half_pixel_centers = false;  // the corners of the images coincide
  std::string name = "";
};

// Each pixel is a weighted sum of the four nearest ones.
//   images: numbers [N,H,W,C].  size: {height, width}.  Returns f32 [N,height,width,C].
// Errors: INVALID_ARGUMENT for other shapes, a size below 1, or if both options are set.
// Source: TF 2.15 tf.compat.v1.image.resize_bilinear.
Tensor ResizeBilinear(const Tensor& images, const std::vector<int64_t>& size,
                      const ResizeImagesOptions& options = {});
// Each pixel is the nearest one. Returns the dtype of `images`. Errors: the same.
// Source: TF 2.15 tf.compat.v1.image.resize_nearest_neighbor.
Tensor ResizeNearestNeighbor(const Tensor& images, const std::vector<int64_t>& size,
                             const ResizeImagesOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_RESIZE_H_
