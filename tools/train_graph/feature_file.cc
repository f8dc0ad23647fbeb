#include "tools/train_graph/feature_file.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "estimator/array/array.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// The largest number of values of a feature: a typing error must not allocate all memory.
constexpr int64_t kMaxElements = int64_t{1} << 24;

absl::Status Wrong(absl::string_view what) { return InvalidArgument(what); }

// "[28,28]", "[]".
absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  absl::string_view inner = text;
  const absl::Status wrong = Wrong(
      absl::StrCat("the shape '", text, "' is not [SIZE,SIZE,...] without spaces; [] is a scalar"));
  if (!absl::ConsumePrefix(&inner, "[") || !absl::ConsumeSuffix(&inner, "]")) return wrong;
  Shape shape;
  if (inner.empty()) return shape;
  int64_t elements = 1;
  for (const absl::string_view word : absl::StrSplit(inner, ',')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(word, &size) || size <= 0) return wrong;
    if (size > kMaxElements / elements) {
      return Wrong(absl::StrCat("the shape ", text, " has more than ", kMaxElements, " elements"));
    }
    elements *= size;
    shape.push_back(size);
  }
  return shape;
}

absl::StatusOr<double> ParseNumber(absl::string_view text, DType dtype) {
  double value = 0;
  int64_t whole = 0;
  const bool ok =
      dtype == DType::kFloat32 ? absl::SimpleAtod(text, &value) : absl::SimpleAtoi(text, &whole);
  if (!ok) {
    return Wrong(
        absl::StrCat("the default '", text, "' is not a number of type ", DTypeName(dtype)));
  }
  return dtype == DType::kFloat32 ? value : static_cast<double>(whole);
}

// One value for all elements, or one for each.
absl::StatusOr<Array> ParseDefault(absl::string_view text, DType dtype, const Shape& shape) {
  const std::vector<std::string> words = absl::StrSplit(text, ',');
  const auto count = static_cast<size_t>(shape.num_elements());
  if (words.size() != 1 && words.size() != count) {
    return Wrong(absl::StrCat("the default has ", words.size(), " values, the shape ",
                              shape.ToString(), " has ", count, "; give one or ", count));
  }
  Array result(dtype, shape);
  for (size_t i = 0; i < count; ++i) {
    const std::string& word = words[words.size() == 1 ? 0 : i];
    if (dtype == DType::kString) {
      result.values<std::string>()[i] = word;
    } else if (dtype == DType::kFloat32) {
      EST_ASSIGN_OR_RETURN(const double value, ParseNumber(word, dtype));
      result.values<float>()[i] = static_cast<float>(value);
    } else {
      int64_t value = 0;
      if (!absl::SimpleAtoi(word, &value) ||
          (dtype == DType::kInt32 && (value > std::numeric_limits<int32_t>::max() ||
                                      value < std::numeric_limits<int32_t>::min()))) {
        return Wrong(
            absl::StrCat("the default '", word, "' is not a number of type ", DTypeName(dtype)));
      }
      if (dtype == DType::kInt32) {
        result.values<int32_t>()[i] = static_cast<int32_t>(value);
      } else {
        result.values<int64_t>()[i] = value;
      }
    }
  }
  return result;
}

absl::StatusOr<FileFeature> ParseRaw(absl::string_view name, absl::string_view dtype,
                                     absl::string_view shape, bool has_default) {
  FileFeature feature{.name = std::string(name), .spec = FixedLenFeature{.dtype = DType::kString}};
  EST_ASSIGN_OR_RETURN(feature.dtype, DTypeFromName(dtype));
  if (feature.dtype == DType::kString) return Wrong("raw:string is not a type of numbers");
  EST_ASSIGN_OR_RETURN(feature.shape, ParseShape(shape));
  if (has_default) return Wrong("a feature of type raw has no default");
  feature.raw = true;
  return feature;
}

absl::StatusOr<FileFeature> ParseVariable(absl::string_view name, DType dtype,
                                          absl::string_view shape, absl::string_view padding) {
  if (shape.empty()) {
    return Wrong(
        "a feature of variable length is a SparseTensor in TensorFlow, which is three outputs of "
        "the iterator, and these cannot be given here; if the program makes it dense before the "
        "iterator, write var[N] with the length N that it pads to");
  }
  EST_ASSIGN_OR_RETURN(const Shape row, ParseShape(shape));
  if (row.rank() != 1) return Wrong(absl::StrCat("var", shape, " is not var[N] with one size"));
  VarLenFeature spec{.dtype = dtype, .max_length = row[0]};
  if (!padding.empty()) {
    if (dtype == DType::kString) return Wrong("strings are padded with \"\", without a default");
    EST_ASSIGN_OR_RETURN(spec.default_value, ParseNumber(padding, dtype));
  }
  return FileFeature{.name = std::string(name), .spec = spec, .dtype = dtype, .shape = row};
}

absl::StatusOr<FileFeature> ParseLine(absl::string_view line) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() != 3 && words.size() != 4) {
    return Wrong(
        absl::StrCat("has ", words.size(), " words; write NAME TYPE SHAPE [default=VALUE]"));
  }
  absl::string_view value;
  if (words.size() == 4) {
    value = words[3];
    if (!absl::ConsumePrefix(&value, "default=") || value.empty()) {
      return Wrong(absl::StrCat("'", words[3], "' is not default=VALUE"));
    }
  }
  absl::string_view type = words[1];
  if (absl::ConsumePrefix(&type, "raw:")) return ParseRaw(words[0], type, words[2], !value.empty());
  EST_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(type));
  if (dtype != DType::kFloat32 && dtype != DType::kInt64 && dtype != DType::kInt32 &&
      dtype != DType::kString) {
    return Wrong(absl::StrCat("Examples do not store ", DTypeName(dtype),
                              "; the types are float32, int64, int32, string and raw:",
                              DTypeName(dtype), " for numbers in the bytes of a string"));
  }
  absl::string_view shape_text = words[2];
  if (absl::ConsumePrefix(&shape_text, "var"))
    return ParseVariable(words[0], dtype, shape_text, value);
  FileFeature feature{.name = std::string(words[0]), .spec = {}, .dtype = dtype};
  EST_ASSIGN_OR_RETURN(feature.shape, ParseShape(shape_text));
  FixedLenFeature spec{.dtype = dtype, .shape = feature.shape};
  if (!value.empty()) {
    EST_ASSIGN_OR_RETURN(spec.default_value, ParseDefault(value, dtype, feature.shape));
  }
  feature.spec = std::move(spec);
  return feature;
}

}  // namespace

absl::StatusOr<std::vector<FileFeature>> ParseFeatureFile(StringArg text, StringArg path) {
  std::vector<FileFeature> features;
  std::vector<std::string> problems;
  std::set<std::string> names;
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text), '\n')) {
    ++number;
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (stripped.empty() || absl::StartsWith(stripped, "#")) continue;
    absl::StatusOr<FileFeature> feature = ParseLine(stripped);
    if (feature.ok() && !names.insert(feature->name).second)
      feature = Wrong(absl::StrCat("the feature '", feature->name, "' is there twice"));
    if (feature.ok()) {
      features.push_back(*std::move(feature));
    } else {
      problems.push_back(
          absl::StrCat(absl::string_view(path), ":", number, ": ", feature.status().message()));
    }
  }
  if (problems.empty() && features.empty()) {
    problems.push_back(
        absl::StrCat(absl::string_view(path), ": has no feature; write one line for each"));
  }
  if (!problems.empty()) return InvalidArgument(absl::StrJoin(problems, "\n"));
  return features;
}

}  // namespace estimator
