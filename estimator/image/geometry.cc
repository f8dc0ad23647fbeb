#include "estimator/image/geometry.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/image_shape.h"

namespace estimator::image {
namespace {

struct Size {
  int64_t height;
  int64_t width;
};

Size SizeOf(const Array& image) { return {image.shape().dim(-3), image.shape().dim(-2)}; }

// Where the pixels of the result are in an image: pixel (y, x) is number
// origin + y * step_y + x * step_x, in row-major order.
struct Layout {
  int64_t origin;
  int64_t step_y;
  int64_t step_x;
};

// Copies pixels of a fixed size, for which memcpy is one or two moves.
template <size_t kBytes>
void CopyRow(const char* in, ptrdiff_t step, int64_t width, char* out) {
  for (int64_t x = 0; x < width; ++x, out += kBytes) std::memcpy(out, in + x * step, kBytes);
}

// Copies pixels of 12 bytes: f32 with 3 channels. 16 bytes are one load and one store. The next
// pixel overwrites the 4 bytes too many. Nothing may be read after the last pixel of an image. That
// pixel is the first or the last one of a row.
void CopyRowOf12(const char* in, ptrdiff_t step, int64_t width, char* out) {
  constexpr size_t kBytes = 12, kMoved = 16;
  std::memcpy(out, in, kBytes);
  if (width == 1) return;
  for (int64_t x = 1; x < width - 1; ++x) {
    out += kBytes;
    in += step;
    std::memcpy(out, in, kMoved);
  }
  std::memcpy(out + kBytes, in + step, kBytes);
}

void CopyRow(const char* in, ptrdiff_t step, int64_t width, size_t bytes, char* out) {
  if (step == static_cast<ptrdiff_t>(bytes)) {
    std::memcpy(out, in, static_cast<size_t>(width) * bytes);
    return;
  }
  switch (bytes) {
    case 1:
      return CopyRow<1>(in, step, width, out);
    case 3:
      return CopyRow<3>(in, step, width, out);
    case 4:
      return CopyRow<4>(in, step, width, out);
    case 12:
      return CopyRowOf12(in, step, width, out);
    default:
      for (int64_t x = 0; x < width; ++x, out += bytes) std::memcpy(out, in + x * step, bytes);
  }
}

// An image of this size, whose pixels are those of `image` at `layout`.
absl::StatusOr<Array> Rearrange(const Array& image, Size size, const Layout& layout) {
  EST_ASSIGN_OR_RETURN(
      Array result,
      UninitializedArray(image.dtype(), ResizedShape(image, size.height, size.width)));
  if (result.num_elements() == 0) return result;
  const int64_t num_images = image.shape().rank() == 4 ? image.shape().dim(0) : 1;
  const size_t pixel_bytes = static_cast<size_t>(image.shape().dim(-1)) * DTypeSize(image.dtype());
  const auto stride = static_cast<ptrdiff_t>(pixel_bytes);
  const Size from = SizeOf(image);
  const char* in = static_cast<const char*>(image.raw());
  char* out = static_cast<char*>(result.raw());
  for (int64_t n = 0; n < num_images; ++n) {
    for (int64_t y = 0; y < size.height; ++y) {
      CopyRow(in + (layout.origin + y * layout.step_y) * stride, layout.step_x * stride, size.width,
              pixel_bytes, out);
      out += size.width * stride;
    }
    in += from.height * from.width * stride;
  }
  return result;
}

absl::StatusOr<Array> Crop(const Array& image, int64_t offset_height, int64_t offset_width,
                           Size size) {
  const Size from = SizeOf(image);
  if (size.height == from.height && size.width == from.width) return image;
  return Rearrange(
      image, size,
      {.origin = offset_height * from.width + offset_width, .step_y = from.width, .step_x = 1});
}

absl::StatusOr<Array> Pad(absl::string_view function, const Array& image, int64_t offset_height,
                          int64_t offset_width, Size size) {
  const Size from = SizeOf(image);
  if (size.height == from.height && size.width == from.width) return image;
  // An image of more than 2 GiB is a mistake, and its number of values could overflow.
  if (!HasElementsAtMost({size.height, size.width, image.shape().dim(-1)},
                         std::numeric_limits<int32_t>::max())) {
    return InvalidArgument(
        function, ": an image of ", size.height, " x ", size.width, " x ", image.shape().dim(-1),
        " has more than 2^31 - 1 values; give a smaller target_height and target_width");
  }
  return PaddedWithZeros(image, offset_height, offset_width, size.height, size.width);
}

//   least: 0 or 1.
absl::Status CheckAtLeast(int64_t least, absl::string_view function, absl::string_view name,
                          int64_t value) {
  if (value >= least) return absl::OkStatus();
  return InvalidArgument(function, ": ", name,
                         least == 0 ? " must be >= 0, got " : " must be > 0, got ", value);
}

// Checks one axis of a crop. REQUIRES: offset >= 0, target > 0.
absl::Status CheckInside(absl::string_view axis, int64_t size, int64_t offset, int64_t target) {
  if (target <= size && offset <= size - target) return absl::OkStatus();
  return InvalidArgument("CropToBoundingBox: ", axis, " must be >= target + offset, got a ", axis,
                         " of ", size, ", target_", axis, "=", target, " and offset_", axis, "=",
                         offset, "; to pad where the image is too small, call ResizeWithCropOrPad");
}

// Checks one axis of a padding. REQUIRES: offset >= 0.
absl::Status CheckFits(absl::string_view axis, int64_t size, int64_t offset, int64_t target) {
  if (target >= offset && size <= target - offset) return absl::OkStatus();
  return InvalidArgument("PadToBoundingBox: ", axis, " must be <= target - offset, got a ", axis,
                         " of ", size, ", target_", axis, "=", target, " and offset_", axis, "=",
                         offset,
                         "; to crop where the image is too large, call ResizeWithCropOrPad");
}

// Copies a part of an array, axis by axis. Returns the end of what was written.
//   strides: of `in`, in bytes.
char* CopyPart(const char* in, absl::Span<const int64_t> begin, absl::Span<const int64_t> size,
               absl::Span<const int64_t> strides, char* out) {
  if (begin.size() == 1) {
    const size_t bytes = static_cast<size_t>(size[0] * strides[0]);
    std::memcpy(out, in + begin[0] * strides[0], bytes);
    return out + bytes;
  }
  for (int64_t i = 0; i < size[0]; ++i) {
    out = CopyPart(in + (begin[0] + i) * strides[0], begin.subspan(1), size.subspan(1),
                   strides.subspan(1), out);
  }
  return out;
}

}  // namespace

absl::StatusOr<Array> CropToBoundingBox(const Array& image, int64_t offset_height,
                                        int64_t offset_width, int64_t target_height,
                                        int64_t target_width) {
  constexpr absl::string_view kFunction = "CropToBoundingBox";
  EST_RETURN_IF_ERROR(CheckHasPixels(kFunction, image));
  EST_RETURN_IF_ERROR(CheckAtLeast(0, kFunction, "offset_width", offset_width));
  EST_RETURN_IF_ERROR(CheckAtLeast(0, kFunction, "offset_height", offset_height));
  EST_RETURN_IF_ERROR(CheckAtLeast(1, kFunction, "target_width", target_width));
  EST_RETURN_IF_ERROR(CheckAtLeast(1, kFunction, "target_height", target_height));
  const Size size = SizeOf(image);
  EST_RETURN_IF_ERROR(CheckInside("width", size.width, offset_width, target_width));
  EST_RETURN_IF_ERROR(CheckInside("height", size.height, offset_height, target_height));
  return Crop(image, offset_height, offset_width, {target_height, target_width});
}

absl::StatusOr<Array> PadToBoundingBox(const Array& image, int64_t offset_height,
                                       int64_t offset_width, int64_t target_height,
                                       int64_t target_width) {
  constexpr absl::string_view kFunction = "PadToBoundingBox";
  EST_RETURN_IF_ERROR(CheckHasPixels(kFunction, image));
  EST_RETURN_IF_ERROR(CheckAtLeast(0, kFunction, "offset_height", offset_height));
  EST_RETURN_IF_ERROR(CheckAtLeast(0, kFunction, "offset_width", offset_width));
  const Size size = SizeOf(image);
  EST_RETURN_IF_ERROR(CheckFits("width", size.width, offset_width, target_width));
  EST_RETURN_IF_ERROR(CheckFits("height", size.height, offset_height, target_height));
  return Pad(kFunction, image, offset_height, offset_width, {target_height, target_width});
}

absl::StatusOr<Array> ResizeWithCropOrPad(const Array& image, int64_t target_height,
                                          int64_t target_width) {
  constexpr absl::string_view kFunction = "ResizeWithCropOrPad";
  EST_RETURN_IF_ERROR(CheckHasPixels(kFunction, image));
  EST_RETURN_IF_ERROR(CheckAtLeast(1, kFunction, "target_width", target_width));
  EST_RETURN_IF_ERROR(CheckAtLeast(1, kFunction, "target_height", target_height));
  const Size size = SizeOf(image);
  EST_ASSIGN_OR_RETURN(
      const Array cropped,
      Crop(image, std::max<int64_t>(size.height - target_height, 0) / 2,
           std::max<int64_t>(size.width - target_width, 0) / 2,
           {std::min(size.height, target_height), std::min(size.width, target_width)}));
  return Pad(kFunction, cropped, std::max<int64_t>(target_height - size.height, 0) / 2,
             std::max<int64_t>(target_width - size.width, 0) / 2, {target_height, target_width});
}

absl::StatusOr<Array> CentralCrop(const Array& image, double central_fraction) {
  if (!(central_fraction > 0 && central_fraction <= 1)) {
    return InvalidArgument("CentralCrop: central_fraction must be within (0, 1], got ",
                           central_fraction);
  }
  if (central_fraction == 1) return image;
  EST_RETURN_IF_ERROR(CheckHasPixels("CentralCrop", image));
  const auto start = [central_fraction](int64_t size) {
    const auto length = static_cast<double>(size);
    return static_cast<int64_t>((length - length * central_fraction) / 2);
  };
  const Size size = SizeOf(image);
  const int64_t top = start(size.height), left = start(size.width);
  return Crop(image, top, left, {size.height - 2 * top, size.width - 2 * left});
}

absl::StatusOr<Array> FlipLeftRight(const Array& image) {
  EST_RETURN_IF_ERROR(CheckHasPixels("FlipLeftRight", image));
  const Size size = SizeOf(image);
  return Rearrange(image, size, {.origin = size.width - 1, .step_y = size.width, .step_x = -1});
}

absl::StatusOr<Array> FlipUpDown(const Array& image) {
  EST_RETURN_IF_ERROR(CheckHasPixels("FlipUpDown", image));
  const Size size = SizeOf(image);
  return Rearrange(image, size,
                   {.origin = (size.height - 1) * size.width, .step_y = -size.width, .step_x = 1});
}

absl::StatusOr<Array> Rot90(const Array& image, int64_t k) {
  EST_RETURN_IF_ERROR(CheckHasPixels("Rot90", image));
  const auto [height, width] = SizeOf(image);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return Rearrange(image, {width, height},
                       {.origin = width - 1, .step_y = -1, .step_x = width});
    case 2:
      return Rearrange(image, {height, width},
                       {.origin = height * width - 1, .step_y = -width, .step_x = -1});
    case 3:
      return Rearrange(image, {width, height},
                       {.origin = (height - 1) * width, .step_y = 1, .step_x = -width});
    default:
      return image;
  }
}

absl::StatusOr<Array> Transpose(const Array& image) {
  EST_RETURN_IF_ERROR(CheckHasPixels("Transpose", image));
  const auto [height, width] = SizeOf(image);
  return Rearrange(image, {width, height}, {.origin = 0, .step_y = 1, .step_x = width});
}

absl::StatusOr<Array> Slice(const Array& array, absl::Span<const int64_t> begin,
                            absl::Span<const int64_t> size) {
  EST_RETURN_IF_ERROR(CheckHoldsNumbers("Slice", array));
  const Shape& shape = array.shape();
  const auto rank = static_cast<size_t>(shape.rank());
  if (begin.size() != rank || size.size() != rank) {
    return InvalidArgument("Slice: expects begin and size with one number for each axis of ",
                           array.TypeString(), ", got begin=[", absl::StrJoin(begin, ","),
                           "] and size=[", absl::StrJoin(size, ","), "]");
  }
  Shape result_shape;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t length = shape.dim(static_cast<int>(i));
    if (begin[i] < 0 || begin[i] > length) {
      return InvalidArgument("Slice: expected begin[", i, "] in [0, ", length, "], but got ",
                             begin[i], " for ", array.TypeString());
    }
    const int64_t most = length - begin[i];
    if (size[i] < -1 || size[i] > most) {
      return InvalidArgument("Slice: expected size[", i, "] in [0, ", most,
                             "], or -1 for the rest, but got ", size[i], " from begin[", i,
                             "]=", begin[i], " of ", array.TypeString());
    }
    result_shape.push_back(size[i] == -1 ? most : size[i]);
  }
  if (result_shape == shape) return array;
  EST_ASSIGN_OR_RETURN(Array result, UninitializedArray(array.dtype(), result_shape));
  if (result.num_elements() == 0) return result;
  std::vector<int64_t> strides = shape.strides();
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(DTypeSize(array.dtype()));
  CopyPart(static_cast<const char*>(array.raw()), begin, result_shape.dims(), strides,
           static_cast<char*>(result.raw()));
  return result;
}

}  // namespace estimator::image
