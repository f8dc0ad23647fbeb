#include "tools/saved_model/npz.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/keras/zip_file.h"

namespace estimator {

absl::StatusOr<Array> LoadNpz(const std::string& path, absl::string_view name) {
  EST_RETURN_IF_ERROR(RandomAccessFile::Open(path).status());
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> files, ListZipFiles(path));
  std::vector<std::string> names;
  for (absl::string_view file : files) {
    if (absl::ConsumeSuffix(&file, ".npy")) names.emplace_back(file);
  }
  if (names.empty()) return InvalidArgument(path, ": it is no .npz file: it has no NAME.npy");
  if (name.empty() && names.size() > 1) {
    return InvalidArgument(path, ": it has several arrays, ", JoinSome(names, kShownNames),
                           "; choose one, as in FILE.npz[", names[0], "]");
  }
  const std::string wanted = name.empty() ? names[0] : std::string(name);
  if (!absl::c_linear_search(names, wanted)) {
    return NotFound(path, ": it has no array '", wanted, "'; it has ",
                    JoinSome(names, kShownNames));
  }
  EST_ASSIGN_OR_RETURN(const std::string contents, ReadZipFile(path, wanted + ".npy"));
  const absl::StatusOr<Array> array = ParseNpy(contents);
  if (!array.ok()) return Annotate(array.status(), absl::StrCat(path, ": '", wanted, "'"));
  return array;
}

}  // namespace estimator
