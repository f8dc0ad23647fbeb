#include "tools/to_tfrecord/manifest.h"

#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

using Fields = std::vector<std::string>;

// Adds a line to the manifest. Returns false if it is not valid.
bool AddLine(const Fields& fields, Manifest& manifest) {
  if (fields[0] == "setting" && fields.size() == 3) {
    manifest.settings[fields[1]] = fields[2];
    return true;
  }
  int64_t number = -1;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &number)) return false;
  if (fields[0] == "shard" && fields.size() == 6) {
    FinishedShard& shard = manifest.shards[number];
    shard.file = fields[5];
    return absl::SimpleAtoi(fields[2], &shard.records) &&
           absl::SimpleAtoi(fields[3], &shard.bytes) && absl::SimpleAtoi(fields[4], &shard.inputs);
  }
  if (fields[0] == "unused" && fields.size() == 4 && manifest.shards.count(number) > 0) {
    manifest.shards[number].unused.push_back({.path = fields[2], .reason = fields[3]});
    return true;
  }
  return false;
}

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  std::string text = "manifest\t1\n";
  const auto add = [&text](const Fields& fields) {
    std::vector<std::string> escaped;
    for (const std::string& field : fields) escaped.push_back(absl::CEscape(field));
    absl::StrAppend(&text, absl::StrJoin(escaped, "\t"), "\n");
  };
  for (const auto& [name, value] : manifest.settings) add({"setting", name, value});
  for (const auto& [number, shard] : manifest.shards) {
    const std::string shard_number = absl::StrCat(number);
    add({"shard", shard_number, absl::StrCat(shard.records), absl::StrCat(shard.bytes),
         absl::StrCat(shard.inputs), shard.file});
    for (const UnusedFile& unused : shard.unused) {
      add({"unused", shard_number, unused.path, unused.reason});
    }
  }
  return text;
}

absl::StatusOr<Manifest> DecodeManifest(absl::string_view text) {
  Manifest manifest;
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines[0] != "manifest\t1") {
    return DataLoss("line 1 is not \"manifest 1\": not a manifest of this version");
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    Fields fields;
    bool valid = true;
    for (const absl::string_view escaped : absl::StrSplit(lines[i], '\t')) {
      std::string field;
      valid = valid && absl::CUnescape(escaped, &field);
      fields.push_back(std::move(field));
    }
    if (!valid || !AddLine(fields, manifest)) {
      return DataLoss("line ", i + 1, " is damaged");
    }
  }
  return manifest;
}

absl::Status CheckSameSettings(const std::map<std::string, std::string>& earlier,
                               const std::map<std::string, std::string>& now) {
  std::set<std::string> names;
  for (const auto& [name, value] : earlier) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);
  std::vector<std::string> differences;
  const auto value_in = [](const std::map<std::string, std::string>& settings,
                           const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string("absent") : found->second;
  };
  for (const std::string& name : names) {
    const std::string before = value_in(earlier, name), after = value_in(now, name);
    if (before != after) {
      differences.push_back(absl::StrCat(name, " was ", before, " and is ", after));
    }
  }
  if (differences.empty()) return absl::OkStatus();
  return FailedPrecondition(absl::StrJoin(differences, "; "));
}

}  // namespace estimator
