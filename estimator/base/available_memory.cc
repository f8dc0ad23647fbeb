#include "estimator/base/available_memory.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "estimator/base/path.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

// The kernel reports size 0 for these files, so they are read to their end. Empty if the file does
// not exist.
std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::optional<int64_t> Number(absl::string_view text) {
  int64_t number;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &number)) return std::nullopt;
  return number;
}

// Parses lines such as "MemAvailable:  123 kB" and "inactive_file 123" into name -> number. Units
// are ignored.
std::map<std::string, int64_t> Fields(const std::string& text) {
  std::map<std::string, int64_t> fields;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    if (words.size() < 2) continue;
    if (const auto number = Number(words[1])) fields[std::string(words[0])] = *number;
  }
  return fields;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* stat_prefix;  // prefix of the numbers that include the child groups
};
constexpr GroupFiles kV1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};
constexpr GroupFiles kV2 = {"memory.max", "memory.current", ""};

// The memory left under the group's limit; nullopt if it has no limit ("max" means no limit).
std::optional<AvailableMemory> OfGroup(const std::string& folder, const GroupFiles& files) {
  const auto limit = Number(Contents(JoinPath(folder, files.limit)));
  const auto usage = Number(Contents(JoinPath(folder, files.usage)));
  if (!limit || !usage) return std::nullopt;
  const auto stat = Fields(Contents(JoinPath(folder, "memory.stat")));
  int64_t cached = 0;
  for (const char* name : {"inactive_file", "active_file"}) {
    const auto found = stat.find(absl::StrCat(files.stat_prefix, name));
    if (found != stat.end()) cached += found->second;
  }
  const int64_t used = std::max<int64_t>(*usage - cached, 0);
  return AvailableMemory{
      .bytes = std::max<int64_t>(*limit - used, 0),
      .bound = absl::StrCat("a limit of ", HumanBytes(*limit), " on its control group")};
}

// The address space left under the limit of the process; nullopt if it has no limit.
//   limits: the text of /proc/self/limits.  statm: that of /proc/self/statm, in pages.
std::optional<AvailableMemory> OfAddressSpace(const std::string& limits, const std::string& statm) {
  const auto pages = Number(statm.substr(0, statm.find(' ')));
  for (absl::string_view line : absl::StrSplit(limits, '\n')) {
    if (!absl::ConsumePrefix(&line, "Max address space")) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const auto limit = words.empty() ? std::nullopt : Number(words[0]);
    if (!limit || !pages) return std::nullopt;
    return AvailableMemory{.bytes = std::max<int64_t>(*limit - *pages * ::sysconf(_SC_PAGESIZE), 0),
                           .bound = absl::StrCat("a limit of ", HumanBytes(*limit),
                                                 " on its address space (ulimit -v)")};
  }
  return std::nullopt;
}

}  // namespace

std::optional<AvailableMemory> ReadAvailableMemory(absl::string_view root) {
  const auto at = [root](absl::string_view path) { return JoinPath(root, path); };
  const auto machine = Fields(Contents(at("proc/meminfo")));
  const auto available = machine.find("MemAvailable"), total = machine.find("MemTotal");
  if (available == machine.end() || total == machine.end()) return std::nullopt;
  const auto swap = machine.find("SwapFree");
  AvailableMemory least = {
      .bytes = available->second * 1024,
      .swap_bytes = swap == machine.end() ? 0 : swap->second * 1024,
      .bound = absl::StrCat("the machine's ", HumanBytes(total->second * 1024))};
  const auto space =
      OfAddressSpace(Contents(at("proc/self/limits")), Contents(at("proc/self/statm")));
  if (space && space->bytes < least.bytes) least = *space;
  // Each line names one group: "0::/a/b" in v2, "4:memory:/a/b" in v1.
  for (const absl::string_view line : absl::StrSplit(Contents(at("proc/self/cgroup")), '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const bool v2 = parts[1].empty();
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    if (!v2 && std::find(controllers.begin(), controllers.end(), "memory") == controllers.end()) {
      continue;
    }
    // The limits of all groups up to the root apply. In a container the path may not exist, because
    // the container's own group is mounted as the root.
    std::string path(absl::StripAsciiWhitespace(parts[2]));
    while (true) {
      const std::string folder = JoinPath(at("sys/fs/cgroup"), v2 ? "" : "memory", path);
      const auto left = OfGroup(folder, v2 ? kV2 : kV1);
      if (left && left->bytes < least.bytes) least = *left;
      if (path.empty() || path == "/") break;
      path = std::string(Dirname(path));
    }
  }
  return least;
}

}  // namespace estimator
