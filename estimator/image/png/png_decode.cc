#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/image_format.h"
#include "estimator/image/png/png.h"
#include "estimator/image/png/png_library.h"

namespace estimator::image {
namespace {

// TensorFlow's limits.
constexpr int64_t kMaxPngSide = int64_t{1} << 27;
constexpr int64_t kMaxPixels = int64_t{1} << 29;
// deflate's largest ratio. A file cannot hold more bytes of pixels than this for each of its own,
// so that a small file cannot make the process allocate much memory.
constexpr int64_t kMaxDeflateRatio = 1032;

// Decodes one file. The steps are plain functions, which libpng may leave by longjmp; memory is
// allocated between them.
class PngDecoder {
 public:
  PngDecoder(absl::string_view contents, int channels, bool wants_16_bits)
      : contents_(contents),
        next_(contents.data()),
        channels_(channels),
        wants_16_bits_(wants_16_bits) {}
  ~PngDecoder() {
    if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
  }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  // [height, width, channels]
  absl::StatusOr<Shape> Open() {
    EST_RETURN_IF_ERROR(Run([](void* d) { static_cast<PngDecoder*>(d)->ReadHeader(); }));
    const Shape shape = {height_, width_, channels_};
    if (width_ >= kMaxPngSide || height_ >= kMaxPngSide ||
        int64_t{width_} * int64_t{height_} >= kMaxPixels) {
      return InvalidArgument("PNG size too large for int: ", width_, " by ", height_);
    }
    const int64_t packed_bytes = int64_t{height_} * static_cast<int64_t>(packed_row_bytes_);
    if (packed_bytes / kMaxDeflateRatio > static_cast<int64_t>(contents_.size())) {
      return InvalidArgument("Invalid PNG data: an image of ", width_, " by ", height_,
                             " needs at least ", packed_bytes / kMaxDeflateRatio,
                             " bytes; there are ", contents_.size());
    }
    return shape;
  }

  // Writes the rows, which begin every `row_bytes`: u8, or u16 if wants_16_bits.
  absl::Status ReadPixels(uint8_t* pixels, size_t row_bytes) {
    EST_RETURN_IF_ERROR(Run([](void* d) { static_cast<PngDecoder*>(d)->SetOutput(); }));
    const size_t needed = png_get_rowbytes(png_, info_);
    const size_t num_bytes = is_16_bits_ ? 2 : 1;
    if (needed != static_cast<size_t>(width_) * static_cast<size_t>(channels_) * num_bytes ||
        needed > row_bytes) {
      return absl::InternalError(
          absl::StrCat("libpng: a row of ", width_, " pixels has ", needed, " bytes"));
    }
    pixels_ = pixels;
    row_bytes_ = row_bytes;
    return Run([](void* d) { static_cast<PngDecoder*>(d)->ReadRows(); });
  }

  // Whether ReadPixels wrote u16. If 16 bits were wanted from a file of 8, it wrote u8.
  bool is_16_bits() const { return is_16_bits_; }

 private:
  absl::Status Run(void (*step)(void*)) {
    if (RunCodecStep(errors_.jump, step, this)) return absl::OkStatus();
    return InvalidArgument("Invalid PNG data: ", errors_.message, " (near byte ",
                           next_ - contents_.data(), " of ", contents_.size(), ")");
  }

  static void ReadBytes(png_structp png, png_bytep bytes, png_size_t num_bytes) {
    PngDecoder& d = *static_cast<PngDecoder*>(png_get_io_ptr(png));
    const size_t left = d.contents_.size() - static_cast<size_t>(d.next_ - d.contents_.data());
    if (num_bytes > left) png_error(png, "the data end too early");
    std::memcpy(bytes, d.next_, num_bytes);
    d.next_ += num_bytes;
  }

  void ReadHeader() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &errors_, ExitPngStep, IgnorePngWarning);
    if (png_ == nullptr) std::longjmp(errors_.jump, 1);
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) png_error(png_, "out of memory");
    png_set_read_fn(png_, this, ReadBytes);
    png_read_info(png_, info_);
    png_get_IHDR(png_, info_, &width_, &height_, &bit_depth_, &color_type_, nullptr, nullptr,
                 nullptr);
    packed_row_bytes_ = png_get_rowbytes(png_, info_);
    if (channels_ != 0) return;
    channels_ = color_type_ != PNG_COLOR_TYPE_PALETTE ? png_get_channels(png_, info_)
                : HasTransparency()                   ? 4
                                                      : 3;
  }

  bool HasTransparency() const { return png_get_valid(png_, info_, PNG_INFO_tRNS) != 0; }

  // The conversions of TensorFlow (tensorflow/core/lib/png/png_io.cc), in its order.
  void SetOutput() {
    const bool has_alpha = (color_type_ & PNG_COLOR_MASK_ALPHA) != 0;
    const bool wants_alpha = channels_ % 2 == 0;
    if (wants_alpha && !has_alpha) {
      if (HasTransparency()) {
        png_set_tRNS_to_alpha(png_);
      } else {
        png_set_add_alpha(png_, (1u << bit_depth_) - 1, PNG_FILLER_AFTER);
      }
    } else if (!wants_alpha && (has_alpha || HasTransparency())) {
      png_set_strip_alpha(png_);
    }
    if (bit_depth_ > 8 && !wants_16_bits_) png_set_strip_16(png_);
    is_16_bits_ = bit_depth_ > 8 && wants_16_bits_;
    png_set_packing(png_);
    num_passes_ = png_set_interlace_handling(png_);
    if (wants_16_bits_) png_set_swap(png_);
    if (color_type_ == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    const bool is_grey = (color_type_ & PNG_COLOR_MASK_COLOR) == 0;
    const bool wants_grey = channels_ < 3;
    if (is_grey && bit_depth_ < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (wants_grey && !is_grey) png_set_rgb_to_gray(png_, 1, 0.299, 0.587);
    if (!wants_grey && is_grey) png_set_gray_to_rgb(png_);
    png_read_update_info(png_, info_);
  }

  void ReadRows() {
    // libpng puts the pixels of each pass of an interlaced image into their places.
    for (int pass = 0; pass < num_passes_; ++pass) {
      uint8_t* row = pixels_;
      for (png_uint_32 y = 0; y < height_; ++y, row += row_bytes_) {
        png_read_row(png_, row, nullptr);
      }
    }
    png_read_end(png_, info_);
  }

  const absl::string_view contents_;
  const char* next_;  // in contents_
  int channels_;
  const bool wants_16_bits_;
  PngErrors errors_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  png_uint_32 width_ = 0;
  png_uint_32 height_ = 0;
  int bit_depth_ = 0;
  int color_type_ = 0;
  size_t packed_row_bytes_ = 0;  // in the file, without the filter's byte
  bool is_16_bits_ = false;
  int num_passes_ = 1;
  uint8_t* pixels_ = nullptr;
  size_t row_bytes_ = 0;
};

// Converts a row in place, from its end: element i of u8 or u16 is at or before that of T.
template <typename T, typename From, typename Convert>
void WidenRow(uint8_t* row, int64_t count, const Convert& convert) {
  for (int64_t i = count - 1; i >= 0; --i) {
    From narrow;
    std::memcpy(&narrow, row + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    const T wide = convert(static_cast<int32_t>(narrow) * (sizeof(From) == 1 ? 257 : 1));
    std::memcpy(row + static_cast<size_t>(i) * sizeof(T), &wide, sizeof(T));
  }
}

template <typename T, typename Convert>
void WidenRows(uint8_t* pixels, const Shape& shape, bool is_16_bits, const Convert& convert) {
  const int64_t row_numbers = shape.dim(1) * shape.dim(2);
  for (int64_t y = 0; y < shape.dim(0); ++y) {
    uint8_t* const row = pixels + static_cast<size_t>(y * row_numbers) * sizeof(T);
    if (is_16_bits) {
      WidenRow<T, uint16_t>(row, row_numbers, convert);
    } else {
      WidenRow<T, uint8_t>(row, row_numbers, convert);
    }
  }
}

}  // namespace

absl::StatusOr<Array> DecodePng(StringArg contents, const DecodePngOptions& options) {
  if (options.channels < 0 || options.channels > 4) {
    return InvalidArgument("channels must be 0, 1, 2, 3 or 4 for PNG, got ", options.channels);
  }
  const DType dtype = options.dtype;
  if (dtype != DType::kUint8 && dtype != DType::kInt32 && dtype != DType::kFloat32) {
    return InvalidArgument("dtype must be uint8, int32 (for 16 bits) or float32 for PNG, got ",
                           DTypeName(dtype));
  }
  EST_RETURN_IF_ERROR(CheckImageFormat(contents, ImageFormat::kPng));
  PngDecoder decoder(contents, options.channels, dtype != DType::kUint8);
  EST_ASSIGN_OR_RETURN(const Shape shape, decoder.Open());
  EST_ASSIGN_OR_RETURN(Array image, UninitializedArray(dtype, shape));
  uint8_t* const pixels = static_cast<uint8_t*>(image.raw());
  EST_RETURN_IF_ERROR(decoder.ReadPixels(
      pixels, static_cast<size_t>(shape.dim(1) * shape.dim(2)) * DTypeSize(dtype)));
  if (dtype == DType::kInt32) {
    WidenRows<int32_t>(pixels, shape, decoder.is_16_bits(), [](int32_t value) { return value; });
  } else if (dtype == DType::kFloat32) {
    constexpr float kScale = static_cast<float>(1. / 65535);
    WidenRows<float>(pixels, shape, decoder.is_16_bits(),
                     [](int32_t value) { return static_cast<float>(value) * kScale; });
  }
  return image;
}

absl::StatusOr<Shape> PngShape(StringArg contents) {
  EST_RETURN_IF_ERROR(CheckImageFormat(contents, ImageFormat::kPng));
  return PngDecoder(contents, 0, false).Open();
}

}  // namespace estimator::image
