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

// A fatal error: ends the step that is running in RunPngStep.
[[noreturn]] void ExitPngStep(png_structp png, png_const_charp message);
// Ignores a warning: such files decode, as in TensorFlow.
void IgnorePngWarning(png_structp png, png_const_charp message);

// Calls step(argument). Returns false if libpng reported a fatal error. An error leaves the frames
// of libpng and of `step` by longjmp, so `step` must have no object with a destructor.
bool RunPngStep(PngErrors& errors, void (*step)(void*), void* argument);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_PNG_PNG_LIBRARY_H_
