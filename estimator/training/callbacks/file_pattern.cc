#include "estimator/training/callbacks/file_pattern.h"

#include <cstdio>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"

namespace estimator::callbacks {
namespace {

// "%0*.*f" of C for Python's "03.4f". Errors: INVALID_ARGUMENT for another format.
absl::StatusOr<std::string> FormatNumber(absl::string_view format, const int64_t* count,
                                         double value) {
  const std::string whole(format);
  if (format.empty()) return count != nullptr ? absl::StrCat(*count) : NumberText(value);
  std::string c_format = "%";
  while (!format.empty() && absl::ascii_isdigit(static_cast<unsigned char>(format[0]))) {
    c_format += format[0];
    format.remove_prefix(1);
  }
  if (absl::ConsumePrefix(&format, ".")) {
    c_format += '.';
    while (!format.empty() && absl::ascii_isdigit(static_cast<unsigned char>(format[0]))) {
      c_format += format[0];
      format.remove_prefix(1);
    }
  }
  const bool is_whole = format == "d" || (format.empty() && count != nullptr);
  const bool is_real = format == "e" || format == "f" || format == "g";
  if (c_format.size() > 8 || !(is_whole ? count != nullptr : is_real))
    return InvalidArgument("'", whole, "' is no format of ",
                           count != nullptr ? "a whole number, as 03d" : "a number, as .4f");
  char text[512];
  if (is_whole) {
    c_format += "lld";
    std::snprintf(text, sizeof(text), c_format.c_str(), static_cast<long long>(*count));
  } else {
    c_format += std::string(format);
    std::snprintf(text, sizeof(text), c_format.c_str(),
                  count != nullptr ? static_cast<double>(*count) : value);
  }
  return std::string(text);
}

}  // namespace

absl::StatusOr<std::string> FillPattern(absl::string_view pattern,
                                        const std::map<std::string, int64_t>& counts,
                                        const Logs& logs) {
  const auto fail = [&](const auto&... parts) {
    return InvalidArgument("Failed to format this callback filepath: \"", pattern,
                           "\". Reason: ", parts...);
  };
  std::string path;
  for (absl::string_view rest = pattern; !rest.empty();) {
    if (absl::ConsumePrefix(&rest, "{{") || absl::ConsumePrefix(&rest, "}}")) {
      path += pattern[pattern.size() - rest.size() - 1];
      continue;
    }
    if (!absl::ConsumePrefix(&rest, "{")) {
      path += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    const size_t end = rest.find('}');
    if (end == absl::string_view::npos) return fail("a { has no }");
    const absl::string_view field = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const size_t colon = field.find(':');
    const std::string name(field.substr(0, colon));
    const absl::string_view format =
        colon == absl::string_view::npos ? absl::string_view() : field.substr(colon + 1);
    const auto count = counts.find(name);
    const auto value = logs.find(name);
    if (count == counts.end() && value == logs.end()) {
      std::vector<std::string> names;
      for (const auto& [known, n] : counts) names.push_back(known);
      for (const auto& [known, n] : logs) names.push_back(known);
      return fail("there is no '", name, "'; there are ", absl::StrJoin(names, ", "));
    }
    const absl::StatusOr<std::string> text =
        FormatNumber(format, count == counts.end() ? nullptr : &count->second,
                     value == logs.end() ? 0 : value->second);
    if (!text.ok()) return fail("{", field, "}: ", text.status().message());
    path += *text;
  }
  return path;
}

}  // namespace estimator::callbacks
