#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/jpeg/jpeg_library.h"

namespace estimator::image {
namespace {

// libjpeg's destination: a buffer that doubles.
struct Destination {
  jpeg_destination_mgr manager;  // first, because libjpeg has a pointer to it
  ByteBuffer buffer;
};

Destination& DestinationOf(j_compress_ptr cinfo) {
  return *reinterpret_cast<Destination*>(cinfo->dest);
}

// Gives libjpeg the free part of the buffer.
void OfferSpace(j_compress_ptr cinfo) {
  Destination& destination = DestinationOf(cinfo);
  ByteBuffer& buffer = destination.buffer;
  if (buffer.size == buffer.capacity &&
      !buffer.Reserve(std::max<size_t>(size_t{1} << 14, 2 * buffer.capacity))) {
    ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
  }
  destination.manager.next_output_byte = reinterpret_cast<JOCTET*>(buffer.data + buffer.size);
  destination.manager.free_in_buffer = buffer.capacity - buffer.size;
}

boolean EmptyOutputBuffer(j_compress_ptr cinfo) {
  ByteBuffer& buffer = DestinationOf(cinfo).buffer;
  buffer.size = buffer.capacity;  // libjpeg calls this when it has filled everything
  OfferSpace(cinfo);
  return TRUE;
}

void TermDestination(j_compress_ptr cinfo) {
  Destination& destination = DestinationOf(cinfo);
  destination.buffer.size = destination.buffer.capacity - destination.manager.free_in_buffer;
}

class Encoder {
 public:
  Encoder(const Array& image, const EncodeJpegOptions& options) : image_(image), options_(options) {
    std::memset(&cinfo_, 0, sizeof(cinfo_));
    std::memset(&destination_.manager, 0, sizeof(destination_.manager));
    cinfo_.err = errors_.Install();
    destination_.manager.init_destination = OfferSpace;
    destination_.manager.empty_output_buffer = EmptyOutputBuffer;
    destination_.manager.term_destination = TermDestination;
    if (!options.xmp_metadata.empty()) {
      xmp_packet_ = std::string("http://ns.adobe.com/xap/1.0/") + '\0' + options.xmp_metadata;
    }
  }
  ~Encoder() {
    jpeg_destroy_compress(&cinfo_);
    std::free(destination_.buffer.data);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  absl::StatusOr<std::string> Encode() {
    const auto run = [](void* encoder) { static_cast<Encoder*>(encoder)->Write(); };
    if (!RunCodecStep(errors_.jump, run, this)) return errors_.ToStatus("EncodeJpeg", "");
    return std::string(destination_.buffer.data, destination_.buffer.size);
  }

 private:
  void Write() {
    jpeg_create_compress(&cinfo_);
    cinfo_.dest = &destination_.manager;
    const int channels = static_cast<int>(image_.shape().dim(2));
    cinfo_.image_height = static_cast<JDIMENSION>(image_.shape().dim(0));
    cinfo_.image_width = static_cast<JDIMENSION>(image_.shape().dim(1));
    cinfo_.input_components = channels;
    cinfo_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&cinfo_);
    if (options_.optimize_size) cinfo_.optimize_coding = TRUE;
    cinfo_.density_unit = options_.density_unit == DensityUnit::kInch ? 1 : 2;
    cinfo_.X_density = static_cast<UINT16>(options_.x_density);
    cinfo_.Y_density = static_cast<UINT16>(options_.y_density);
    jpeg_set_quality(&cinfo_, options_.quality, TRUE);
    if (options_.progressive) jpeg_simple_progression(&cinfo_);
    if (!options_.chroma_downsampling) {
      for (int c = 0; c < cinfo_.num_components; ++c) {
        cinfo_.comp_info[c].h_samp_factor = 1;
        cinfo_.comp_info[c].v_samp_factor = 1;
      }
    }
    jpeg_start_compress(&cinfo_, TRUE);
    if (!xmp_packet_.empty()) {
      jpeg_write_marker(&cinfo_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(xmp_packet_.data()),
                        static_cast<unsigned int>(xmp_packet_.size()));
    }
    const size_t row_bytes = cinfo_.image_width * static_cast<size_t>(channels);
    // libjpeg does not write to the rows; its type lacks the const.
    JSAMPROW row = const_cast<JSAMPROW>(image_.data<uint8_t>());
    for (JDIMENSION y = 0; y < cinfo_.image_height; ++y, row += row_bytes) {
      jpeg_write_scanlines(&cinfo_, &row, 1);
    }
    jpeg_finish_compress(&cinfo_);
  }

  const Array& image_;
  const EncodeJpegOptions& options_;
  std::string xmp_packet_;
  JpegErrors errors_;
  Destination destination_;
  jpeg_compress_struct cinfo_;
};

absl::Status CheckOptions(const EncodeJpegOptions& options, int64_t channels) {
  if (options.quality < 0 || options.quality > 100) {
    return InvalidArgument("quality must be in [0, 100], got ", options.quality);
  }
  if (options.format == JpegFormat::kGrayscale && channels != 1) {
    return InvalidArgument("format 'grayscale' expects 1 channel, got ", channels);
  }
  if (options.format == JpegFormat::kRgb && channels != 3) {
    return InvalidArgument("format 'rgb' expects 3 channels, got ", channels);
  }
  for (const int density : {options.x_density, options.y_density}) {
    if (density < 0 || density > 0xffff) {
      return InvalidArgument("x_density and y_density must be in [0, 65535], got ", density);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeJpeg(const Array& image, const EncodeJpegOptions& options) {
  const Shape& shape = image.shape();
  const int64_t channels = shape.rank() == 3 ? shape.dim(2) : 0;
  constexpr int64_t kMaxSide = 65500;  // JPEG_MAX_DIMENSION of libjpeg
  if (image.dtype() != DType::kUint8 || (channels != 1 && channels != 3) ||
      image.num_elements() == 0 || shape.dim(0) > kMaxSide || shape.dim(1) > kMaxSide) {
    return InvalidArgument(
        "EncodeJpeg: an image must be u8 [height, width, 1 or 3 channels] with sides of 1 to ",
        kMaxSide, " pixels; it is ", image.TypeString());
  }
  EST_RETURN_IF_ERROR(Annotate(CheckOptions(options, channels), "EncodeJpeg"));
  return Encoder(image, options).Encode();
}

}  // namespace estimator::image
