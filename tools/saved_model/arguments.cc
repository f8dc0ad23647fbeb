#include "tools/saved_model/arguments.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/compare.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model/find_saved_model.h"
#include "estimator/records/tfrecord.h"
#include "tools/saved_model/npz.h"

namespace estimator {
namespace {

absl::StatusOr<Array> ReadRecords(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<TFRecordReader> reader, TFRecordReader::Open(path));
  std::vector<std::string> records;
  while (true) {
    EST_ASSIGN_OR_RETURN(std::optional<std::string> record, reader->Next());
    if (!record.has_value()) break;
    records.push_back(*std::move(record));
  }
  return Array::FromSpan<std::string>({static_cast<int64_t>(records.size())}, records);
}

absl::StatusOr<Array> ReadInput(const std::string& path) {
  if (absl::EndsWith(path, ".tfrecord")) return ReadRecords(path);
  if (absl::EndsWith(path, ".npz")) return LoadNpz(path, "");
  constexpr absl::string_view kBehindFile = ".npz[";  // FILE.npz[NAME], as in saved_model_cli
  const size_t end = path.rfind(kBehindFile.data());
  if (end != std::string::npos && path.back() == ']') {
    const size_t name = end + kBehindFile.size();
    return LoadNpz(path.substr(0, name - 1), path.substr(name, path.size() - 1 - name));
  }
  if (!absl::EndsWith(path, ".npy")) {
    return InvalidArgument(path,
                           ": an input must be a .npy file (numpy.save), FILE.npz[NAME] "
                           "(numpy.savez) or a .tfrecord file");
  }
  return LoadNpy(path);
}

// Returns the newest .meta file of a model_dir, or that of a checkpoint's prefix; "" if there is
// none.
std::string NewestMeta(const std::string& path) {
  if (FileExists(absl::StrCat(path, ".meta"))) return absl::StrCat(path, ".meta");
  std::pair<double, std::string> newest;
  for (const std::string& name : ListDirectory(path).value_or(std::vector<std::string>())) {
    const std::string file = JoinPath(path, name);
    if (absl::EndsWith(name, ".meta"))
      newest = std::max(newest, {FileModifiedTimeSeconds(file).value_or(0), file});
  }
  return newest.second;
}

}  // namespace

absl::StatusOr<std::string> FindSavedModel(const std::string& dir) {
  if (HoldsSavedModel(dir)) return dir;
  if (absl::EndsWith(dir, ".meta")) {
    if (FileExists(dir)) return dir;
    return NotFound("there is no file ", dir);
  }
  const std::string newest = NewestExport(dir);
  if (!newest.empty()) return newest;
  absl::Status none = NoSavedModel(dir);
  const std::string meta = NewestMeta(dir);
  if (meta.empty()) return none;
  return absl::Status(none.code(), absl::StrCat(none.message(), "; here, --dir=", meta,
                                                " is the graph of a checkpoint"));
}

absl::StatusOr<std::map<std::string, std::string>> ParseInputFiles(absl::string_view text) {
  std::map<std::string, std::string> files;
  for (const absl::string_view part : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (words.size() != 2 || words[0].empty() || words[1].empty()) {
      return InvalidArgument("--inputs: '", part,
                             "' is not NAME=FILE; several are separated by ';'");
    }
    if (!files.emplace(words[0], words[1]).second)
      return InvalidArgument("--inputs: '", words[0], "' occurs twice");
  }
  return files;
}

absl::StatusOr<ArrayMap> ReadInputs(const std::map<std::string, std::string>& files) {
  ArrayMap inputs;
  for (const auto& [name, path] : files) {
    absl::StatusOr<Array> array = ReadInput(path);
    if (!array.ok()) return Annotate(array.status(), absl::StrCat("input '", name, "'"));
    inputs[name] = *std::move(array);
  }
  return inputs;
}

void ConvertInputs(const std::map<std::string, SavedTensor>& wanted, ArrayMap& inputs) {
  const auto is_float = [](DType dtype) {
    return dtype == DType::kFloat16 || dtype == DType::kBfloat16 || dtype == DType::kFloat32 ||
           dtype == DType::kFloat64;
  };
  const auto is_number = [](DType dtype) {
    return dtype != DType::kInvalid && dtype != DType::kString && dtype != DType::kBool;
  };
  for (auto& [name, array] : inputs) {
    const auto found = wanted.find(name);
    if (found == wanted.end() || found->second.dtype == array.dtype()) continue;
    const DType dtype = found->second.dtype;
    if (!is_number(dtype) || !is_number(array.dtype())) continue;
    if (is_float(array.dtype()) && !is_float(dtype)) continue;  // casting 0.5 to 0 is a mistake
    Array converted = array.Cast(dtype);
    const bool same = SameBits(converted.Cast(array.dtype()), array);
    if (same || is_float(array.dtype())) array = std::move(converted);
  }
}

absl::StatusOr<std::string> OutputPath(absl::string_view outdir, absl::string_view name) {
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    if (part != "..") continue;
    return InvalidArgument(
        "output '", name,
        "' would be written outside of --outdir; select other outputs with --outputs, "
        "or print it by leaving out --outdir");
  }
  return JoinPath(outdir, absl::StrCat(name, ".npy"));
}

}  // namespace estimator
