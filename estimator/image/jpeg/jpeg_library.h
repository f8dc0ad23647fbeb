// libjpeg with errors that do not end the process. Internal to estimator/image.
#ifndef ESTIMATOR_IMAGE_JPEG_JPEG_LIBRARY_H_
#define ESTIMATOR_IMAGE_JPEG_JPEG_LIBRARY_H_

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator::image {

// libjpeg's error manager. A fatal error ends the step that is running in RunCodecStep
// (image_buffer.h). Warnings are ignored, as in TensorFlow; nothing is printed.
struct JpegErrors {
  jpeg_error_mgr manager;  // first, because libjpeg has a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  int code;

  // The manager to set as cinfo.err.
  jpeg_error_mgr* Install();
  // The error of the last step that failed: `context`, what libjpeg says, and `where`.
  absl::Status ToStatus(absl::string_view context, absl::string_view where) const;
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_JPEG_JPEG_LIBRARY_H_
