#include "tools/checkpoint/arguments.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/latest_checkpoint.h"

namespace estimator {
namespace {

absl::StatusOr<std::optional<NamePattern>> ParsePattern(absl::string_view flag,
                                                        const std::string& text) {
  if (text.empty()) return std::nullopt;
  EST_ASSIGN_OR_RETURN(NamePattern pattern, NamePattern::Compile(flag, text));
  return pattern;
}

bool Fits(absl::string_view entry, absl::string_view name) {
  return name == entry || (absl::StartsWith(name, entry) && name[entry.size()] == '/');
}

// Returns the names and all scopes that contain them.
std::vector<std::string> NamesAndScopes(const std::vector<std::string>& names) {
  std::set<std::string> all;
  for (const std::string& name : names) {
    all.insert(name);
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == '/' && i > 0) all.insert(name.substr(0, i));
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SelectNames(const BundleReader& reader,
                                                     const NameFilter& filter) {
  EST_ASSIGN_OR_RETURN(const auto include, ParsePattern("--include", filter.include));
  EST_ASSIGN_OR_RETURN(const auto exclude, ParsePattern("--exclude", filter.exclude));
  std::vector<std::string> selected;
  for (const std::string& name : reader.names()) {
    bool passes = true;
    if (include) {
      EST_ASSIGN_OR_RETURN(passes, include->FoundIn(name));
    }
    if (exclude && passes) {
      EST_ASSIGN_OR_RETURN(const bool excluded, exclude->FoundIn(name));
      passes = !excluded;
    }
    if (passes) selected.push_back(name);
  }
  if (!selected.empty() || (!include && !exclude)) return selected;
  return NotFound("none of the ", reader.names().size(), " variables of ", reader.prefix(),
                  " matches --include=", filter.include, " --exclude=", filter.exclude,
                  "; `list` shows them");
}

absl::StatusOr<NameMap> NameMap::Parse(absl::string_view map) {
  if (map.empty()) {
    return InvalidArgument("--map must be given: --map=old=new,old2=new2 or --map=FILE");
  }
  std::vector<std::string> entries;
  const bool is_file = FileExists(map) && !IsDirectory(map);
  if (is_file) {
    EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(map));
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
      if (!line.empty()) entries.emplace_back(line);
    }
  } else {
    entries = absl::StrSplit(map, ',', absl::SkipWhitespace());
  }
  NameMap result;
  for (const std::string& entry : entries) {
    const char separator = absl::StrContains(entry, '=') ? '=' : ' ';
    std::vector<std::string> parts =
        absl::StrSplit(entry, absl::MaxSplits(separator, 1), absl::SkipWhitespace());
    for (std::string& part : parts) {
      part = std::string(absl::StripSuffix(absl::StripAsciiWhitespace(part), "/"));
    }
    const bool whole = parts.size() == 2 && !parts[0].empty() && !parts[1].empty() &&
                       (is_file || separator == '=');
    if (!whole) {
      return InvalidArgument("\"", entry, "\" in --map is not old=new",
                             is_file ? "" : ", and is not a file");
    }
    if (!result.new_names_.emplace(parts[0], parts[1]).second) {
      return InvalidArgument("--map has ", parts[0], " twice");
    }
  }
  return result;
}

absl::StatusOr<std::map<std::string, std::string>> NameMap::Apply(
    const std::vector<std::string>& names) const {
  std::map<std::string, std::string> renamed, old_of_new;
  std::set<std::string> used;
  std::vector<std::string> missing, doubled;
  for (const std::string& name : names) {
    const std::pair<const std::string, std::string>* longest = nullptr;
    for (const auto& entry : new_names_) {
      if (!Fits(entry.first, name)) continue;
      used.insert(entry.first);
      if (longest == nullptr || entry.first.size() > longest->first.size()) longest = &entry;
    }
    const std::string to = longest == nullptr
                               ? name
                               : absl::StrCat(longest->second, name.substr(longest->first.size()));
    renamed[name] = to;
    const auto [other, is_new] = old_of_new.emplace(to, name);
    if (!is_new) doubled.push_back(absl::StrCat(other->second, " and ", name, " become ", to));
  }
  for (const auto& [old_name, new_name] : new_names_) {
    if (used.count(old_name) > 0) continue;
    missing.push_back(absl::StrCat(old_name, DidYouMean(old_name, NamesAndScopes(names))));
  }
  if (!missing.empty()) {
    return NotFound("--map has names that are not in the checkpoint: ",
                    absl::StrJoin(missing, ", "));
  }
  if (!doubled.empty()) {
    return InvalidArgument("two variables would get the same name: ", absl::StrJoin(doubled, "; "));
  }
  return renamed;
}

absl::Status PrepareOutput(const std::string& prefix, bool force) {
  if (IsDirectory(prefix) || absl::EndsWith(prefix, "/")) {
    return InvalidArgument(
        prefix, " is a directory; give a prefix in it: ", JoinPath(prefix, "model.ckpt-0"));
  }
  // A V1 checkpoint counts too: readers would find the new one instead of it.
  EST_ASSIGN_OR_RETURN(const bool exists, Exists(IndexPath(prefix)));
  if (!force && (exists || CheckpointModifiedTimeSeconds(prefix) > 0)) {
    return absl::AlreadyExistsError(absl::StrCat("there is already a checkpoint ", prefix,
                                                 "; choose another name, or pass --force"));
  }
  const absl::string_view directory = Dirname(prefix);
  return directory.empty() ? absl::OkStatus() : CreateDirectories(directory);
}

absl::Status CheckInterrupt() {
  return InterruptRequested() ? absl::CancelledError("interrupted; nothing was written")
                              : absl::OkStatus();
}

}  // namespace estimator
