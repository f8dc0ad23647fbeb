#include "estimator/image/jpeg/jpeg_decode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/image/huffman/jpeg_entropy.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/image_format.h"
#include "estimator/image/jpeg/jpeg_library.h"

namespace estimator::image {
namespace {

// TensorFlow's limit of height * width * channels of the file.
constexpr int64_t kMaxSamples = int64_t{1} << 29;
// Above this, a file must have a bit of data for each block of 8x8. Every Huffman code needs it, so
// only damaged files have less. A small file cannot make the process allocate much memory.
constexpr int64_t kMaxUnprovenSamples = int64_t{1} << 24;
// Progressive files have about 10. Each scan visits the whole image, so a small file with many
// scans could take minutes.
constexpr int kMaxScans = 500;
// Rows that one call of jpeg_read_scanlines may fill.
constexpr int kRowsAtOnce = 16;

// Bytes in memory as libjpeg's source. If the data end too early, it does what TensorFlow's does
// (tensorflow/core/lib/jpeg/jpeg_handle.cc): without `recover`, reading stops at the last whole
// MCU, or fails. With it, the data seem to end with an EOI marker.
struct Source {
  jpeg_source_mgr manager;  // first, because libjpeg has a pointer to it
  const JOCTET* data;
  size_t size;
  bool recover;
  int num_refills;  // calls of FillInputBuffer that left data to read again
};

constexpr JOCTET kEndOfImage[2] = {0xff, JPEG_EOI};

Source& SourceOf(j_decompress_ptr cinfo) { return *reinterpret_cast<Source*>(cinfo->src); }

void InitSource(j_decompress_ptr cinfo) {
  Source& source = SourceOf(cinfo);
  source.manager.next_input_byte = source.data;
  source.manager.bytes_in_buffer = source.size;
}

boolean FillInputBuffer(j_decompress_ptr cinfo) {
  Source& source = SourceOf(cinfo);
  // Data that end in the middle of a marker make libjpeg read the marker again, with `recover`.
  // Some markers would be read forever.
  constexpr int kMaxRefills = 1000;
  if (source.manager.bytes_in_buffer > 0 && ++source.num_refills < kMaxRefills) {
    return source.recover ? TRUE : FALSE;
  }
  if (!source.recover) ERREXIT(cinfo, JERR_INPUT_EOF);
  WARNMS(cinfo, JWRN_JPEG_EOF);
  source.manager.next_input_byte = kEndOfImage;
  source.manager.bytes_in_buffer = sizeof(kEndOfImage);
  return TRUE;
}

void SkipInputData(j_decompress_ptr cinfo, long num_bytes) {  // NOLINT: libjpeg's type
  Source& source = SourceOf(cinfo);
  if (num_bytes <= 0) return;
  if (static_cast<size_t>(num_bytes) > source.manager.bytes_in_buffer) {
    source.manager.bytes_in_buffer = 0;
    FillInputBuffer(cinfo);
  } else {
    source.manager.next_input_byte += num_bytes;
    source.manager.bytes_in_buffer -= static_cast<size_t>(num_bytes);
  }
}

void TermSource(j_decompress_ptr) {}

void LimitScans(j_common_ptr common) {
  j_decompress_ptr const cinfo = reinterpret_cast<j_decompress_ptr>(common);
  if (cinfo->input_scan_number > kMaxScans) ERREXIT1(cinfo, JERR_COMPONENT_COUNT, kMaxScans);
}

// Decodes one file. A new libjpeg object for each file: an object keeps the tables of the last
// file, and a file that lacks tables would decode with them. The steps are plain functions, which
// libjpeg may leave by longjmp; memory is allocated between them.
class Decoder {
 public:
  Decoder(JpegCoefficients coefficients, absl::string_view contents,
          const DecodeJpegOptions& options)
      : coefficients_(coefficients), contents_(contents), options_(options) {
    std::memset(&cinfo_, 0, sizeof(cinfo_));
    std::memset(&source_, 0, sizeof(source_));
    std::memset(&progress_, 0, sizeof(progress_));
    cinfo_.err = errors_.Install();
    source_.manager.init_source = InitSource;
    source_.manager.fill_input_buffer = FillInputBuffer;
    source_.manager.skip_input_data = SkipInputData;
    source_.manager.resync_to_restart = jpeg_resync_to_restart;
    source_.manager.term_source = TermSource;
    source_.data = reinterpret_cast<const JOCTET*>(contents.data());
    source_.size = contents.size();
    source_.recover = options.try_recover_truncated;
    progress_.progress_monitor = LimitScans;
  }
  ~Decoder() { jpeg_destroy_decompress(&cinfo_); }  // does nothing if it was not created
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  absl::StatusOr<Shape> ReadShape() {
    EST_RETURN_IF_ERROR(Run(ReadHeader));
    return Shape{cinfo_.output_height, cinfo_.output_width, cinfo_.out_color_components};
  }

  // Whether the error of Decode is that kFast does not read this file, but kLibjpeg may.
  bool needs_libjpeg() const { return entropy_.gave_up(); }

  absl::StatusOr<Array> Decode(const Box* crop_window) {
    EST_RETURN_IF_ERROR(Run(ReadHeader));
    channels_ = options_.channels != 0 ? options_.channels : std::min(cinfo_.num_components, 3);
    if (channels_ == 2) {
      return InvalidArgument("Invalid JPEG data: the image has ", cinfo_.num_components,
                             " color components; 1 (grey), 3 (RGB) and 4 (CMYK) are supported");
    }
    EST_RETURN_IF_ERROR(Run(SetOutput));
    EST_RETURN_IF_ERROR(CheckSize());
    window_ = {0, 0, cinfo_.output_height, cinfo_.output_width};
    if (crop_window != nullptr) {
      if (!crop_window->IsWithin(cinfo_.output_height, cinfo_.output_width)) {
        return InvalidArgument(
            "Invalid crop window: y=", crop_window->y, ", x=", crop_window->x,
            ", height=", crop_window->height, ", width=", crop_window->width,
            "; the image has height ", cinfo_.output_height, " and width ", cinfo_.output_width,
            options_.ratio == 1 ? "" : absl::StrCat(" at 1/", options_.ratio, " of its size"));
      }
      window_ = *crop_window;
      crops_ = true;
    }
    EST_RETURN_IF_ERROR(Run(Start));
    if (!started_) return EndsTooEarly();
    EST_ASSIGN_OR_RETURN(
        Array image, UninitializedArray(DType::kUint8, {window_.height, window_.width, channels_}));
    output_ = image.data<uint8_t>();
    row_bytes_ = static_cast<size_t>(window_.width * channels_);
    // libjpeg crops to whole blocks, and does not convert CMYK: such rows are copied.
    cmyk_ = cinfo_.out_color_space == JCS_CMYK;
    std::unique_ptr<uint8_t[]> scratch;
    scratch_row_bytes_ =
        static_cast<size_t>(cinfo_.output_width) * static_cast<size_t>(cinfo_.output_components);
    if (cmyk_ || scratch_row_bytes_ != row_bytes_) {
      scratch.reset(new uint8_t[kRowsAtOnce * scratch_row_bytes_]);
      scratch_ = scratch.get();
    }
    EST_RETURN_IF_ERROR(Run(ReadRows));
    EST_RETURN_IF_ERROR(HandleMissingRows());
    return image;
  }

 private:
  absl::Status Run(void (*step)(Decoder&)) {
    struct Call {
      Decoder* decoder;
      void (*step)(Decoder&);
    } call = {this, step};
    const auto run = [](void* argument) {
      Call* const call = static_cast<Call*>(argument);
      call->step(*call->decoder);
    };
    if (RunCodecStep(errors_.jump, run, &call)) return absl::OkStatus();
    if (errors_.code == JERR_INPUT_EOF) return EndsTooEarly();
    if (cinfo_.input_scan_number > kMaxScans) {
      return InvalidArgument("Invalid JPEG data: more than ", kMaxScans, " scans");
    }
    return errors_.ToStatus("Invalid JPEG data", Where());
  }

  std::string Where() const {
    const size_t left = source_.manager.next_input_byte == nullptr
                            ? contents_.size()
                            : std::min(source_.manager.bytes_in_buffer, contents_.size());
    return absl::StrCat(" (near byte ", contents_.size() - left, " of ", contents_.size(), ")");
  }

  absl::Status EndsTooEarly() const {
    return InvalidArgument(
        "Invalid JPEG data: the data end too early, after ", contents_.size(), " bytes",
        cinfo_.output_height == 0 ? ""
                                  : absl::StrCat(", at row ", rows_read_, " of ", window_.height));
  }

  static void ReadHeader(Decoder& d) {
    jpeg_create_decompress(&d.cinfo_);
    d.cinfo_.src = &d.source_.manager;
    d.cinfo_.progress = &d.progress_;
    if (jpeg_read_header(&d.cinfo_, TRUE) != JPEG_HEADER_OK) ERREXIT(&d.cinfo_, JERR_INPUT_EOF);
    jpeg_calc_output_dimensions(&d.cinfo_);
  }

  static void SetOutput(Decoder& d) {
    jpeg_decompress_struct& cinfo = d.cinfo_;
    if (d.channels_ == 1) {
      cinfo.out_color_space = JCS_GRAYSCALE;
    } else if (cinfo.jpeg_color_space == JCS_CMYK || cinfo.jpeg_color_space == JCS_YCCK) {
      cinfo.out_color_space = JCS_CMYK;
    } else {
      cinfo.out_color_space = JCS_RGB;
    }
    cinfo.do_fancy_upsampling = d.options_.fancy_upscaling ? TRUE : FALSE;
    cinfo.scale_num = 1;
    cinfo.scale_denom = static_cast<unsigned int>(d.options_.ratio);
    cinfo.dct_method =
        d.options_.dct_method == DctMethod::kIntegerAccurate ? JDCT_ISLOW : JDCT_IFAST;
    jpeg_calc_output_dimensions(&cinfo);
  }

  absl::Status CheckSize() const {
    const int64_t samples = int64_t{cinfo_.output_height} * int64_t{cinfo_.output_width} *
                            int64_t{cinfo_.num_components};
    if (samples >= kMaxSamples) {
      return InvalidArgument("Image too large: ", cinfo_.output_height, " x ", cinfo_.output_width,
                             " with ", cinfo_.num_components,
                             " components; the limit is 2^29 values");
    }
    int64_t blocks = 0;
    for (int c = 0; c < cinfo_.num_components; ++c) {
      blocks += int64_t{cinfo_.comp_info[c].width_in_blocks} *
                int64_t{cinfo_.comp_info[c].height_in_blocks};
    }
    const int64_t all_samples = 64 * blocks;
    const int64_t bytes = static_cast<int64_t>(contents_.size());
    if (all_samples > kMaxUnprovenSamples && blocks / 8 > bytes && !cinfo_.arith_code) {
      return InvalidArgument("Invalid JPEG data: an image of ", cinfo_.image_height, " x ",
                             cinfo_.image_width, " needs at least ", blocks / 8,
                             " bytes; there are ", bytes);
    }
    return absl::OkStatus();
  }

  static void Start(Decoder& d) {
    jpeg_decompress_struct& cinfo = d.cinfo_;
    d.started_ = jpeg_start_decompress(&cinfo) != FALSE;
    if (!d.started_) return;
    JDIMENSION x = static_cast<JDIMENSION>(d.window_.x);
    JDIMENSION width = static_cast<JDIMENSION>(d.window_.width);
    if (d.crops_) jpeg_crop_scanline(&cinfo, &x, &width);  // moves x to the left, to a whole block
    d.scratch_offset_ =
        (static_cast<size_t>(d.window_.x) - x) * static_cast<size_t>(cinfo.output_components);
    if (d.coefficients_ == JpegCoefficients::kFast) {
      // The MCU of a file with one component is one block.
      const int blocks = cinfo.num_components == 1 ? 1 : cinfo.max_h_samp_factor;
      const auto mcu_width = static_cast<JDIMENSION>(blocks * DCTSIZE / d.options_.ratio);
      d.entropy_.Attach(&cinfo, {.first = x / mcu_width, .last = (x + width - 1) / mcu_width});
    }
    if (d.window_.y > 0) jpeg_skip_scanlines(&cinfo, static_cast<JDIMENSION>(d.window_.y));
  }

  static void ReadRows(Decoder& d) {
    jpeg_decompress_struct& cinfo = d.cinfo_;
    JSAMPROW rows[kRowsAtOnce];
    uint8_t* out = d.output_;
    while (d.rows_read_ < d.window_.height) {
      const int wanted =
          static_cast<int>(std::min<int64_t>(kRowsAtOnce, d.window_.height - d.rows_read_));
      for (int i = 0; i < wanted; ++i) {
        rows[i] = d.scratch_ != nullptr ? d.scratch_ + static_cast<size_t>(i) * d.scratch_row_bytes_
                                        : out + static_cast<size_t>(i) * d.row_bytes_;
      }
      const int got =
          static_cast<int>(jpeg_read_scanlines(&cinfo, rows, static_cast<JDIMENSION>(wanted)));
      if (got == 0) return;  // the data end too early
      for (int i = 0; i < got; ++i, out += d.row_bytes_) {
        if (d.cmyk_) {
          CmykToRgb(rows[i] + d.scratch_offset_, d.window_.width, cinfo.saw_Adobe_marker != FALSE,
                    out);
        } else if (d.scratch_ != nullptr) {
          std::memcpy(out, rows[i] + d.scratch_offset_, d.row_bytes_);
        }
      }
      d.rows_read_ += got;
    }
    // After the last row of the image, reads up to EOI, as TensorFlow does.
    if (cinfo.output_scanline == cinfo.output_height) jpeg_finish_decompress(&cinfo);
  }

  // Adobe's files hold inverted values.
  static void CmykToRgb(const uint8_t* cmyk, int64_t width, bool inverted, uint8_t* rgb) {
    for (int64_t i = 0; i < width; ++i, cmyk += 4, rgb += 3) {
      for (int c = 0; c < 3; ++c) {
        rgb[c] = static_cast<uint8_t>(inverted ? cmyk[3] * cmyk[c] / 255
                                               : (255 - cmyk[3]) * (255 - cmyk[c]) / 255);
      }
    }
  }

  absl::Status HandleMissingRows() {
    const int64_t missing = window_.height - rows_read_;
    if (missing == 0) return absl::OkStatus();
    uint8_t* const first = output_ + static_cast<size_t>(rows_read_) * row_bytes_;
    if (options_.try_recover_truncated && rows_read_ > 0) {
      for (int64_t i = 0; i < missing; ++i) {
        std::memcpy(first + static_cast<size_t>(i) * row_bytes_, first - row_bytes_, row_bytes_);
      }
      return absl::OkStatus();
    }
    const float fraction = static_cast<float>(rows_read_) / static_cast<float>(window_.height);
    if (fraction < std::min(1.0f, options_.acceptable_fraction)) return EndsTooEarly();
    std::memset(first, 0, static_cast<size_t>(missing) * row_bytes_);
    return absl::OkStatus();
  }

  const JpegCoefficients coefficients_;
  const absl::string_view contents_;
  const DecodeJpegOptions& options_;
  JpegErrors errors_;
  JpegEntropyDecoder entropy_;
  Source source_;
  jpeg_progress_mgr progress_;
  jpeg_decompress_struct cinfo_;
  int channels_ = 0;
  Box window_;
  bool crops_ = false;
  bool started_ = false;
  bool cmyk_ = false;
  uint8_t* output_ = nullptr;
  size_t row_bytes_ = 0;
  uint8_t* scratch_ = nullptr;  // kRowsAtOnce rows, if the rows of libjpeg are not those of output_
  size_t scratch_row_bytes_ = 0;
  size_t scratch_offset_ = 0;  // of the window in a row of scratch_
  int64_t rows_read_ = 0;
};

absl::Status CheckContents(absl::string_view contents) {
  EST_RETURN_IF_ERROR(CheckImageFormat(contents, ImageFormat::kJpeg));
  if (contents.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return InvalidArgument("Input contents are too large for int: ", contents.size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Array> DecodeJpegWith(JpegCoefficients coefficients, absl::string_view contents,
                                     const Box* crop_window, const DecodeJpegOptions& options) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3) {
    return InvalidArgument("channels must be 0, 1 or 3 for JPEG, got ", options.channels);
  }
  if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8) {
    return InvalidArgument("ratio must be 1, 2, 4, or 8, got ", options.ratio);
  }
  EST_RETURN_IF_ERROR(CheckContents(contents));
  {
    Decoder decoder(coefficients, contents, options);
    absl::StatusOr<Array> image = decoder.Decode(crop_window);
    if (!decoder.needs_libjpeg()) return image;
  }
  return Decoder(JpegCoefficients::kLibjpeg, contents, options).Decode(crop_window);
}

absl::StatusOr<Array> DecodeJpeg(StringArg contents, const DecodeJpegOptions& options) {
  return DecodeJpegWith(JpegCoefficients::kFast, contents, nullptr, options);
}

absl::StatusOr<Array> DecodeAndCropJpeg(StringArg contents, const Box& crop_window,
                                        const DecodeJpegOptions& options) {
  return DecodeJpegWith(JpegCoefficients::kFast, contents, &crop_window, options);
}

absl::StatusOr<Shape> JpegShape(StringArg contents) {
  EST_RETURN_IF_ERROR(CheckContents(contents));
  const DecodeJpegOptions options;
  Decoder decoder(JpegCoefficients::kLibjpeg, contents, options);
  return decoder.ReadShape();
}

bool IsJpeg(StringArg contents) { return DetectImageFormat(contents) == ImageFormat::kJpeg; }

}  // namespace estimator::image
