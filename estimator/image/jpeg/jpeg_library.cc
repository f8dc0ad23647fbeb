#include "estimator/image/jpeg/jpeg_library.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::image {
namespace {

void ExitStep(j_common_ptr cinfo) {
  JpegErrors* const errors = reinterpret_cast<JpegErrors*>(cinfo->err);
  (*cinfo->err->format_message)(cinfo, errors->message);
  errors->code = cinfo->err->msg_code;
  std::longjmp(errors->jump, 1);
}

void IgnoreMessage(j_common_ptr) {}

void IgnoreWarning(j_common_ptr cinfo, int level) {
  if (level < 0) ++cinfo->err->num_warnings;
}

}  // namespace

jpeg_error_mgr* JpegErrors::Install() {
  message[0] = '\0';
  code = 0;
  jpeg_std_error(&manager);
  manager.error_exit = ExitStep;
  manager.output_message = IgnoreMessage;
  manager.emit_message = IgnoreWarning;
  return &manager;
}

absl::Status JpegErrors::ToStatus(absl::string_view context, absl::string_view where) const {
  const std::string text = absl::StrCat(context, ": ", message, where);
  return code == JERR_OUT_OF_MEMORY ? ResourceExhausted(text) : InvalidArgument(text);
}

}  // namespace estimator::image
