#include "estimator/export/saved_model/find_saved_model.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

std::vector<std::string> Entries(absl::string_view dir) {
  return ListDirectory(dir).value_or(std::vector<std::string>());
}

struct Export {
  uint64_t seconds = 0;  // its name
  std::string path;      // "" for none
  bool operator<(const Export& other) const {
    return std::tie(seconds, path) < std::tie(other.seconds, other.path);
  }
};

Export NewestIn(absl::string_view dir) {
  Export newest;
  for (const std::string& name : Entries(dir)) {
    uint64_t seconds = 0;
    const std::string path = JoinPath(dir, name);
    // A folder temp-SECS is an export that is being written.
    const bool number = std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
    if (number && absl::SimpleAtoi(name, &seconds) && HoldsSavedModel(path))
      // Compared as numbers: names of different lengths are not in the order of text.
      newest = std::max(newest, Export{.seconds = seconds, .path = path});
  }
  return newest;
}

// Returns the newest export in this folder. If it has none, returns the newest in folders up to
// `depth` levels below it, because exporters write to model_dir/export/NAME/.
Export NewestBelow(absl::string_view dir, int depth) {
  Export newest = NewestIn(dir);
  if (!newest.path.empty() || depth == 0) return newest;
  for (const std::string& name : Entries(dir)) {
    const std::string below = JoinPath(dir, name);
    if (IsDirectory(below)) newest = std::max(newest, NewestBelow(below, depth - 1));
  }
  return newest;
}

bool HoldsCheckpoints(absl::string_view dir) {
  const std::vector<std::string> names = Entries(dir);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "checkpoint" || absl::EndsWith(name, ".index");
  });
}

// Returns for example "a, b, c and 4 more".
std::string Contents(absl::string_view dir) {
  const std::vector<std::string> names = Entries(dir);
  return names.empty() ? "nothing" : JoinSome(names, 5);
}

constexpr char kFromCheckpoint[] =
    "to predict from a checkpoint, call MakePredictor(receiver_fn) of the estimator; to make a "
    "SavedModel of it, call ExportSavedModel";

std::string WhatIsThere(absl::string_view path) {
  if (FileExists(absl::StrCat(path, ".index")))
    return absl::StrCat("the path is a checkpoint; ", kFromCheckpoint);
  if (!FileExists(path)) return "there is no such folder";
  if (!IsDirectory(path)) {
    const absl::string_view dir = Dirname(path);
    return absl::StrCat("the path is a file, but must be the folder of a SavedModel",
                        HoldsSavedModel(dir) ? absl::StrCat(": pass ", dir) : "");
  }
  std::string text;
  if (const std::string newest = NewestBelow(path, /*depth=*/2).path; !newest.empty()) {
    text = absl::StrCat("there are exports below it: pass one of them; the newest is ", newest);
  }
  if (HoldsCheckpoints(path)) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    "the folder contains checkpoints: ", kFromCheckpoint);
  }
  return text.empty() ? absl::StrCat("the folder contains ", Contents(path)) : text;
}

}  // namespace

bool HoldsSavedModel(absl::string_view dir) {
  return FileExists(JoinPath(dir, "saved_model.pb")) ||
         FileExists(JoinPath(dir, "saved_model.pbtxt"));
}

std::string NewestExport(absl::string_view dir) { return NewestIn(dir).path; }

absl::Status NoSavedModel(absl::string_view path) {
  return NotFound("SavedModel file does not exist at: ", path,
                  "/{saved_model.pbtxt|saved_model.pb}: ", WhatIsThere(path));
}

}  // namespace estimator
