// libpng with errors that do not end the process. Internal to estimator/image.
#ifndef ESTIMATOR_IMAGE_PNG_PNG_LIBRARY_H_
#define ESTIMATOR_IMAGE_PNG_PNG_LIBRARY_H_

#include <png.h>

#include <csetjmp>

namespace estimator::image {

// Give it to libpng as the error pointer, with the two functions below.
struct PngErrors {
  std::jmp_buf jump;
  char message[128] = "";
};

// A fatal error: ends the step that is running in RunCodecStep.
[[noreturn]] void ExitPngStep(png_structp png, png_const_charp message);
// Ignores a warning: such files decode, as in TensorFlow.
void IgnorePngWarning(png_structp png, png_const_charp message);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_PNG_PNG_LIBRARY_H_
