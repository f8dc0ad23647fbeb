#include "tools/saved_model/arguments.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

bool HoldsSavedModel(const std::string& dir) {
  return FileExists(JoinPath(dir, "saved_model.pb")) ||
         FileExists(JoinPath(dir, "saved_model.pbtxt"));
}

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
  if (!absl::EndsWith(path, ".npy")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": an input is a .npy file (numpy.save), or a .tfrecord file"));
  }
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Array> array = ParseNpy(bytes);
  if (!array.ok()) return Annotate(array.status(), path);
  return array;
}

}  // namespace

absl::StatusOr<std::string> FindSavedModel(const std::string& dir) {
  if (HoldsSavedModel(dir) || absl::EndsWith(dir, ".meta")) return dir;
  if (!FileExists(dir)) return absl::NotFoundError(absl::StrCat("there is no ", dir));
  std::pair<uint64_t, std::string> newest;
  const absl::StatusOr<std::vector<std::string>> names = ListDirectory(dir);
  if (names.ok()) {
    for (const std::string& name : *names) {
      uint64_t seconds = 0;
      const std::string path = JoinPath(dir, name);
      const bool number = std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
      if (number && absl::SimpleAtoi(name, &seconds) && HoldsSavedModel(path))
        newest = std::max(newest, {seconds, path});
    }
  }
  if (!newest.second.empty()) return newest.second;
  return absl::NotFoundError(absl::StrCat(
      dir,
      " holds no SavedModel (saved_model.pb or .pbtxt), nor exports in folders named by their "
      "seconds (1700000000/)"));
}

absl::StatusOr<std::map<std::string, std::string>> ParseInputFiles(absl::string_view text) {
  std::map<std::string, std::string> files;
  for (const absl::string_view part : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (words.size() != 2 || words[0].empty() || words[1].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--inputs: '", part, "' is not NAME=FILE; several are separated by ';'"));
    }
    if (!files.emplace(words[0], words[1]).second)
      return absl::InvalidArgumentError(absl::StrCat("--inputs: '", words[0], "' stands twice"));
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

}  // namespace estimator
