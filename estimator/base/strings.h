// Strings for messages: the nearest name for "did you mean", shortened lists, tables, and amounts
// in readable units.
#ifndef ESTIMATOR_BASE_STRINGS_H_
#define ESTIMATOR_BASE_STRINGS_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace estimator {

// The least number of insertions, deletions and replacements of a byte that turn a into b.
int EditDistance(absl::string_view a, absl::string_view b);

// The candidate with the smallest edit distance to name, for "did you mean". Case is ignored, and
// the first of equally near candidates wins. Returns nullopt if no candidate is near. Near is a
// distance of at most a third of the length of name, or at most 2 (1 for names below 4 characters).
std::optional<std::string> NearestName(absl::string_view name,
                                       const std::vector<std::string>& candidates);

// " (did you mean 'NAME'?)" with the nearest of the candidates, or "" if none is near.
std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates);

// "a, b, c and 4 more": the first `num_shown` of the items, and the number of the others.
std::string JoinSome(absl::Span<const std::string> items, size_t num_shown);

// How many names of an input a message shows: a file may have millions of columns.
inline constexpr size_t kShownNames = 20;

// The text, or its first bytes and its length: "abcd... (1000000 bytes)".
std::string Shortened(absl::string_view text);

// Formats rows as aligned columns, with two spaces between columns and a newline after each row. A
// column is aligned right if all its cells below the first row are numbers, with or without a unit.
// Others are aligned left. A row may have fewer cells than others.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// "0 B", "512 B", "1.5 KiB", "31.7 GiB".
std::string HumanBytes(int64_t num_bytes);

// "950", "12.3k", "1.2M", "4.0G".
std::string HumanCount(double count);

// "850 us", "12.3 ms", "4.2 s", "4m 05s", "2h 03m", "3d 04h".
std::string HumanDuration(double seconds);

// Whether the text is UTF-8, which the string fields of protobuf have to be.
bool IsUtf8(absl::string_view text);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_STRINGS_H_
