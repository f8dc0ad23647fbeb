#include "estimator/checkpoint/save.h"

#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_writer.h"

namespace estimator {

absl::Status SaveVariables(StringArg prefix, const std::map<std::string, Array>& variables) {
  const absl::string_view directory = Dirname(prefix);
  if (!directory.empty()) EST_RETURN_IF_ERROR(CreateDirectories(directory));
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(prefix));
  for (const auto& [name, value] : variables) EST_RETURN_IF_ERROR(writer->Add(name, value));
  return writer->Finish();
}

}  // namespace estimator
