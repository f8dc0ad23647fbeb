#include "estimator/ops/resize.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

constexpr int64_t kMaxSide = 1 << 24;  // f32 counts pixels exactly up to here

// The images in input 0 with other sides.
OutputSpecs WithSides(const ShapeContext& context, const std::vector<int64_t>& size, DType dtype) {
  const TensorSpec& images = context.input(0);
  EST_RETURN_IF_ERROR(CheckNumber(images));
  EST_RETURN_IF_ERROR(CheckRank(images, 4, "images", "(batch, rows, columns, channels)"));
  if (context.attrs.b("align_corners") && context.attrs.b("half_pixel_centers"))
    return InvalidArgument("align_corners and half_pixel_centers are both true; set one of them");
  if (size.size() != 2) return InvalidArgument("size has ", size.size(), " numbers, expected 2");
  for (const int64_t side : {images.shape[1], images.shape[2], size[0], size[1]}) {
    if (side < 1 || side > kMaxSide)
      return InvalidArgument("sides must be from 1 to ", kMaxSide, ", got ", images.shape[1], " x ",
                             images.shape[2], " and ", size[0], " x ", size[1]);
  }
  return std::vector<TensorSpec>{
      {dtype, Shape{images.shape[0], size[0], size[1], images.shape[3]}}};
}

OutputSpecs ResizeBilinearRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> size, context.ConstantInts(1));
  return WithSides(context, size, DType::kFloat32);
}

// Also of the gradient, whose `size` is that of the images before they were resized.
OutputSpecs ResizeNearestRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> size, context.ConstantInts(1));
  return WithSides(context, size, context.input(0).dtype);
}

OutputSpecs ResizeBilinearGradRule(const ShapeContext& context) {
  const TensorSpec& original = context.input(1);
  EST_RETURN_IF_ERROR(CheckFloating(original, "original_image"));
  EST_RETURN_IF_ERROR(CheckRank(original, 4, "original_image"));
  if (context.input(0).dtype != DType::kFloat32)
    return InvalidArgument("grads is ", context.input(0).ToString(), ", expected float32");
  EST_ASSIGN_OR_RETURN(const auto specs,
                       WithSides(context, {original.shape[1], original.shape[2]}, original.dtype));
  EST_RETURN_IF_ERROR(CheckShape(original, specs[0].shape, "original_image"));
  return specs;
}

Tensors ResizeBilinearGradient(const Node& node, const Tensors& grads) {
  // TensorFlow has none for images of integers.
  if (!IsFloating(node.input(0).dtype())) return {Tensor(), Tensor()};
  return {AddOp("ResizeBilinearGrad", {grads[0], node.input(0)}, node.attrs()), Tensor()};
}

Tensors ResizeNearestGradient(const Node& node, const Tensors& grads) {
  const Tensor& images = node.input(0);
  return {OpBuilder("ResizeNearestNeighborGrad", "ResizeNearestNeighborGrad")
              .Input(grads[0])
              .Ints("size", {images.dim(1), images.dim(2)})
              .Attr("align_corners", node.attrs().b("align_corners"))
              .Attr("half_pixel_centers", node.attrs().b("half_pixel_centers"))
              .Build(),
          Tensor()};
}

EST_REGISTER_OP("ResizeBilinear", ResizeBilinearRule, ResizeBilinearGradient);
EST_REGISTER_OP("ResizeBilinearGrad", ResizeBilinearGradRule);
EST_REGISTER_OP("ResizeNearestNeighbor", ResizeNearestRule, ResizeNearestGradient);
EST_REGISTER_OP("ResizeNearestNeighborGrad", ResizeNearestRule);

Tensor AddResize(const char* op, const Tensor& images, const std::vector<int64_t>& size,
                 const ResizeImagesOptions& options) {
  return OpBuilder(op, NameOr(options.name, op))
      .Input(images)
      .Ints("size", size)
      .Attr("align_corners", options.align_corners)
      .Attr("half_pixel_centers", options.half_pixel_centers)
      .Build();
}

}  // namespace

Tensor ResizeBilinear(const Tensor& images, const std::vector<int64_t>& size,
                      const ResizeImagesOptions& options) {
  return AddResize("ResizeBilinear", images, size, options);
}

Tensor ResizeNearestNeighbor(const Tensor& images, const std::vector<int64_t>& size,
                             const ResizeImagesOptions& options) {
  return AddResize("ResizeNearestNeighbor", images, size, options);
}

}  // namespace estimator
