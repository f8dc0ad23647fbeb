#include "estimator/checkpoint/testing/corruption.h"

#include <string>

#include "absl/strings/match.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

absl::Status ReplaceFile(absl::string_view path, absl::string_view contents) {
  EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path));
  EST_RETURN_IF_ERROR(file->Append(contents));
  return file->Close();
}

absl::Status ReadEverything(absl::string_view prefix) {
  EST_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(prefix));
  absl::Status first;
  for (const std::string& name : reader->names()) {
    const absl::Status status = reader->Read(name).status();
    if (!absl::IsUnimplemented(status)) first.Update(status);
  }
  first.Update(reader->VerifyContents());
  return first;
}

bool SaysWhatIsLost(absl::string_view message) {
  for (const char* const words : {"every variable is lost", "it has no entries of variables",
                                  "it holds the entries ", "it holds every entry"}) {
    if (absl::StrContains(message, words)) return true;
  }
  return false;
}

}  // namespace estimator
