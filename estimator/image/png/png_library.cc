#include "estimator/image/png/png_library.h"

#include <cstdio>

namespace estimator::image {

void ExitPngStep(png_structp png, png_const_charp message) {
  PngErrors* const errors = static_cast<PngErrors*>(png_get_error_ptr(png));
  std::snprintf(errors->message, sizeof(errors->message), "%s", message);
  std::longjmp(errors->jump, 1);
}

void IgnorePngWarning(png_structp, png_const_charp) {}

}  // namespace estimator::image
