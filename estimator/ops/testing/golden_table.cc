#include "estimator/ops/testing/golden_table.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"

namespace estimator::testing {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("'", what, "' cannot be read"));
}

absl::StatusOr<std::vector<int64_t>> Ints(absl::string_view text) {
  std::vector<int64_t> values;
  for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(word, &values.emplace_back())) return Malformed(word);
  }
  return values;
}

absl::StatusOr<std::vector<float>> Floats(absl::string_view text) {
  std::vector<float> values;
  for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtof(word, &values.emplace_back())) return Malformed(word);
  }
  return values;
}

//   text: TYPE:VALUE, for every type but an array.
absl::StatusOr<AttrValue> ParseAttr(absl::string_view text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const auto& [type, value] = parts;
  if (type == "s") return AttrValue(value);
  if (type == "b") return AttrValue(value == "1");
  if (type == "t") {
    EST_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(value));
    return AttrValue(dtype);
  }
  if (type == "ls") {
    std::vector<std::string> words = absl::StrSplit(value, ',', absl::SkipEmpty());
    return AttrValue(std::move(words));
  }
  if (type == "f" || type == "lf") {
    EST_ASSIGN_OR_RETURN(std::vector<float> floats, Floats(value));
    if (type == "lf") return AttrValue(std::move(floats));
    if (floats.size() == 1) return AttrValue(floats[0]);
  }
  if (type == "i" || type == "li" || type == "d") {
    EST_ASSIGN_OR_RETURN(std::vector<int64_t> ints, Ints(value));
    if (type == "d") return AttrValue(Shape(std::move(ints)));
    if (type == "li") return AttrValue(std::move(ints));
    if (ints.size() == 1) return AttrValue(ints[0]);
  }
  return Malformed(text);
}

absl::StatusOr<std::map<int, Array>> ReadSome(const BundleReader& reader, const std::string& prefix,
                                              int limit) {
  std::map<int, Array> values;
  for (int i = 0; i < limit; ++i) {
    const std::string key = absl::StrCat(prefix, i);
    if (!reader.Has(key)) continue;
    EST_ASSIGN_OR_RETURN(values[i], reader.Read(key));
  }
  return values;
}

absl::StatusOr<GoldenCase> ParseCase(absl::string_view line, const BundleReader& reader) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.size() < 5) return Malformed(line);
  GoldenCase golden;
  golden.op = words[0];
  golden.name = words[1];
  const std::string prefix = absl::StrCat(golden.op, "/", golden.name, "/");
  int num_inputs = 0;
  for (size_t i = 2; i < words.size(); ++i) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    const auto& [key, value] = parts;
    if (key == "tolerance") {
      golden.tolerance = value;
    } else if (key == "inputs" || key == "outputs") {
      if (!absl::SimpleAtoi(value, key == "inputs" ? &num_inputs : &golden.num_outputs)) {
        return Malformed(words[i]);
      }
    } else if (key == "const" || key == "d") {
      EST_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, Ints(value));
      std::set<int>& set = key == "d" ? golden.differentiated : golden.constants;
      for (const int64_t k : ints) set.insert(static_cast<int>(k));
    } else if (value == "a:attr") {
      EST_ASSIGN_OR_RETURN(const Array array, reader.Read(prefix + "attr"));
      golden.attrs.Set(key, array);
    } else {
      EST_ASSIGN_OR_RETURN(AttrValue attr, ParseAttr(value));
      golden.attrs.Set(key, std::move(attr));
    }
  }
  for (int i = 0; i < num_inputs; ++i) {
    EST_ASSIGN_OR_RETURN(golden.inputs.emplace_back(), reader.Read(absl::StrCat(prefix, "in/", i)));
  }
  EST_ASSIGN_OR_RETURN(golden.outputs, ReadSome(reader, prefix + "out/", golden.num_outputs));
  EST_ASSIGN_OR_RETURN(golden.grad_ys, ReadSome(reader, prefix + "dy/", golden.num_outputs));
  EST_ASSIGN_OR_RETURN(golden.grads, ReadSome(reader, prefix + "d/", num_inputs));
  return golden;
}

}  // namespace

absl::StatusOr<std::vector<GoldenCase>> ReadGoldens(absl::string_view folder) {
  EST_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(JoinPath(folder, "goldens")));
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(JoinPath(folder, "cases.txt")));
  std::vector<GoldenCase> cases;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    absl::StatusOr<GoldenCase> golden = ParseCase(line, *reader);
    if (!golden.ok()) return Annotate(golden.status(), line);
    cases.push_back(*std::move(golden));
  }
  return cases;
}

absl::StatusOr<std::vector<AbsentGolden>> ReadAbsentGoldens(absl::string_view folder) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(JoinPath(folder, "absent.txt")));
  std::vector<AbsentGolden> rows;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    if (words.size() != 3) return Malformed(line);
    rows.push_back({words[0], words[1], words[2]});
  }
  return rows;
}

}  // namespace estimator::testing
