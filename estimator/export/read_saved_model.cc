#include "estimator/export/read_saved_model.h"

#include <google/protobuf/text_format.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<proto::SavedModel> ReadSavedModel(absl::string_view dir) {
  std::string path = JoinPath(dir, "saved_model.pb");
  const bool binary = FileExists(path);
  if (!binary) path = JoinPath(dir, "saved_model.pbtxt");
  if (!FileExists(path)) {
    return absl::NotFoundError(absl::StrCat("SavedModel file does not exist at: ", dir,
                                            "/{saved_model.pbtxt|saved_model.pb}"));
  }
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  proto::SavedModel model;
  // protobuf counts bytes in an int.
  const bool parsed = bytes.size() <= std::numeric_limits<int>::max() &&
                      (binary ? model.ParseFromString(bytes)
                              : google::protobuf::TextFormat::ParseFromString(bytes, &model));
  if (parsed) return model;
  return absl::DataLossError(absl::StrCat(path, ": these ", bytes.size(),
                                          " bytes are no SavedModel",
                                          binary ? "" : " in protobuf's text format"));
}

}  // namespace estimator
