#include "estimator/base/strings.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace estimator {
namespace {

bool LooksLikeANumber(absl::string_view cell) {
  if (cell.empty()) return true;
  if (cell[0] == '-' || cell[0] == '+') cell.remove_prefix(1);
  return !cell.empty() && absl::ascii_isdigit(static_cast<unsigned char>(cell[0]));
}

// Prints the value in the smallest unit in which it is below base. A whole number of the first unit
// has no fraction.
std::string InUnits(double value, double base, absl::Span<const absl::string_view> units) {
  size_t unit = 0;
  // The limit is 0.05 below base, because 1023.96 would print as 1024.0.
  while (std::abs(value) >= (unit == 0 ? base : base - 0.05) && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  const double rounded = std::round(value);
  const int digits = unit == 0 && std::abs(value - rounded) < 1e-9 ? 0 : 1;
  return absl::StrFormat("%.*f%s", digits, value, units[unit]);
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  // One row of the table of distances between prefixes: row[j] is the distance of a[0, i) and
  // b[0, j).
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::optional<std::string> NearestName(absl::string_view name,
                                       const std::vector<std::string>& candidates) {
  const std::string lower = absl::AsciiStrToLower(name);
  // The limit is at least 2 edits, because two swapped letters are two edits.
  int limit = (name.size() >= 4 ? std::max(2, static_cast<int>(name.size()) / 3) : 1) + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const int distance = EditDistance(lower, absl::AsciiStrToLower(candidate));
    // A distance of the whole length means that the names share no letter.
    if (distance < limit && distance < static_cast<int>(std::max(name.size(), candidate.size()))) {
      limit = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = NearestName(name, candidates);
  return nearest ? absl::StrCat(" (did you mean '", *nearest, "'?)") : "";
}

std::string JoinSome(absl::Span<const std::string> items, size_t num_shown) {
  const std::string joined = absl::StrJoin(items.subspan(0, num_shown), ", ");
  if (items.size() <= num_shown) return joined;
  return absl::StrCat(joined, " and ", items.size() - num_shown, " more");
}

std::string Shortened(absl::string_view text) {
  constexpr size_t kMost = 100;
  if (text.size() <= kMost) return std::string(text);
  return absl::StrCat(text.substr(0, kMost), "... (", text.size(), " bytes)");
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  size_t num_columns = 0;
  for (const auto& row : rows) num_columns = std::max(num_columns, row.size());
  std::vector<size_t> widths(num_columns, 0);
  std::vector<bool> right(num_columns, rows.size() > 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows[i].size(); ++j) {
      widths[j] = std::max(widths[j], rows[i][j].size());
      if (i > 0 && !LooksLikeANumber(rows[i][j])) right[j] = false;
    }
  }
  std::string table;
  for (const auto& row : rows) {
    std::string line;
    for (size_t j = 0; j < row.size(); ++j) {
      const std::string padding(widths[j] - row[j].size(), ' ');
      absl::StrAppend(&line, j > 0 ? "  " : "", right[j] ? padding : "", row[j],
                      right[j] ? "" : padding);
    }
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&table, line, "\n");
  }
  return table;
}

std::string HumanBytes(int64_t num_bytes) {
  return InUnits(static_cast<double>(num_bytes), 1024,
                 {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"});
}

std::string HumanCount(double count) { return InUnits(count, 1000, {"", "k", "M", "G", "T"}); }

std::string HumanDuration(double seconds) {
  if (seconds < 0) return absl::StrCat("-", HumanDuration(-seconds));
  // Each threshold is where the smaller unit would round up to the next one.
  if (seconds < 0.9995e-3) return absl::StrFormat("%.0f us", seconds * 1e6);
  if (seconds < 0.99995) return absl::StrFormat("%.1f ms", seconds * 1e3);
  if (seconds < 59.95) return absl::StrFormat("%.1f s", seconds);
  const auto total = static_cast<int64_t>(std::llround(seconds));
  constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (total < kHour) return absl::StrFormat("%dm %02ds", total / kMinute, total % kMinute);
  if (total < kDay) return absl::StrFormat("%dh %02dm", total / kHour, total % kHour / kMinute);
  return absl::StrFormat("%dd %02dh", total / kDay, total % kDay / kHour);
}

bool IsUtf8(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) -> uint32_t { return static_cast<uint8_t>(text[at]); };
    const uint32_t lead = byte(i);
    const size_t size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size == 0 || lead > 0xF4 || size > text.size() - i) return false;
    for (size_t k = 1; k < size; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    // Longer forms than needed, the halves of UTF-16's pairs, and numbers past U+10FFFF.
    const uint32_t second = size > 1 ? byte(i + 1) : 0;
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += size;
  }
  return true;
}

}  // namespace estimator
