#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/png/png.h"
#include "estimator/image/png/png_library.h"

namespace estimator::image {
namespace {

void AppendToBuffer(png_structp png, png_bytep bytes, png_size_t num_bytes) {
  if (!static_cast<ByteBuffer*>(png_get_io_ptr(png))->Append(bytes, num_bytes)) {
    png_error(png, "out of memory");
  }
}

void NothingToFlush(png_structp) {}

class PngEncoder {
 public:
  PngEncoder(const Array& image, const EncodePngOptions& options)
      : image_(image), options_(options) {}
  ~PngEncoder() {
    if (png_ != nullptr) png_destroy_write_struct(&png_, &info_);
    std::free(buffer_.data);
  }
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;

  absl::StatusOr<std::string> Encode() {
    if (image_.dtype() == DType::kInt32) EST_RETURN_IF_ERROR(MakeRow());
    const auto run = [](void* encoder) { static_cast<PngEncoder*>(encoder)->Write(); };
    if (!RunCodecStep(errors_.jump, run, this)) {
      return absl::InternalError(absl::StrCat("EncodePng: ", errors_.message));
    }
    return std::string(buffer_.data, buffer_.size);
  }

 private:
  // Checks the numbers, and makes room for a row of 16 bits.
  absl::Status MakeRow() {
    for (const int32_t value : image_.values<int32_t>()) {
      if (value < 0 || value > 0xffff) {
        return InvalidArgument("EncodePng: the numbers of an i32 image must be in [0, 65535], got ",
                               value);
      }
    }
    row_.reset(new uint8_t[2 * static_cast<size_t>(image_.shape().dim(1) * image_.shape().dim(2))]);
    return absl::OkStatus();
  }

  void Write() {
    constexpr int kColorTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                   PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const int64_t height = image_.shape().dim(0);
    const int64_t width = image_.shape().dim(1);
    const int64_t channels = image_.shape().dim(2);
    const bool is_u8 = image_.dtype() == DType::kUint8;
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &errors_, ExitPngStep, IgnorePngWarning);
    if (png_ == nullptr) std::longjmp(errors_.jump, 1);
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) png_error(png_, "out of memory");
    png_set_write_fn(png_, &buffer_, AppendToBuffer, NothingToFlush);
    // TensorFlow's settings, so that the bytes are the same with the same zlib.
    png_set_compression_level(
        png_, options_.compression < 0 ? Z_DEFAULT_COMPRESSION : options_.compression);
    png_set_compression_mem_level(png_, MAX_MEM_LEVEL);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
                 is_u8 ? 8 : 16, kColorTypes[channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    const int64_t row_numbers = width * channels;
    for (int64_t y = 0; y < height; ++y) {
      if (is_u8) {
        png_write_row(png_, image_.data<uint8_t>() + y * row_numbers);
        continue;
      }
      const int32_t* const values = image_.data<int32_t>() + y * row_numbers;
      for (int64_t i = 0; i < row_numbers; ++i) {
        row_[2 * i] = static_cast<uint8_t>(values[i] >> 8);  // PNG is big-endian
        row_[2 * i + 1] = static_cast<uint8_t>(values[i] & 0xff);
      }
      png_write_row(png_, row_.get());
    }
    png_write_end(png_, nullptr);
  }

  const Array& image_;
  const EncodePngOptions& options_;
  std::unique_ptr<uint8_t[]> row_;
  PngErrors errors_;
  ByteBuffer buffer_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

absl::StatusOr<std::string> EncodePng(const Array& image, const EncodePngOptions& options) {
  const Shape& shape = image.shape();
  const int64_t channels = shape.rank() == 3 ? shape.dim(2) : 0;
  constexpr int64_t kMaxSide = 1000000;  // libpng's limit
  if ((image.dtype() != DType::kUint8 && image.dtype() != DType::kInt32) || channels < 1 ||
      channels > 4 || image.num_elements() == 0 || shape.dim(0) > kMaxSide ||
      shape.dim(1) > kMaxSide) {
    return InvalidArgument(
        "EncodePng: an image must be u8 or i32 [height, width, 1 to 4 channels] with "
        "sides of 1 to ",
        kMaxSide, " pixels; it is ", image.TypeString());
  }
  if (options.compression < -1 || options.compression > 9) {
    return InvalidArgument("EncodePng: compression should be in range [-1, 9], got ",
                           options.compression);
  }
  return PngEncoder(image, options).Encode();
}

}  // namespace estimator::image
