#include "tools/to_tfrecord/samples.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/sources/idx.h"
#include "estimator/image/png/png.h"
#include "glog/logging.h"
#include "tools/to_tfrecord/csv_table.h"

namespace estimator {
namespace {

// Numbers the classes that labels name, in the order of bytes.
void NumberClasses(const std::vector<std::vector<std::string>>& labels, SampleSet& set) {
  std::set<std::string> names;
  for (const auto& of_sample : labels) names.insert(of_sample.begin(), of_sample.end());
  set.classes.assign(names.begin(), names.end());
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const std::string& name : labels[i]) {
      set.samples[i].labels.push_back(
          std::lower_bound(set.classes.begin(), set.classes.end(), name) - set.classes.begin());
    }
  }
}

// Every number up to the largest becomes a class: a typing error must not make billions of them.
constexpr int64_t kMaxInteger = 1'000'000;

// If all labels are integers that may be class numbers, uses them as they are.
bool UseIntegers(const std::vector<std::vector<std::string>>& labels, SampleSet& set) {
  int64_t largest = -1;
  for (const auto& of_sample : labels) {
    for (const std::string& text : of_sample) {
      int64_t value = 0;
      if (!absl::SimpleAtoi(text, &value) || value < 0 || value > kMaxInteger) return false;
      largest = std::max(largest, value);
    }
  }
  if (largest < 0) return false;
  for (int64_t i = 0; i <= largest; ++i) set.classes.push_back(absl::StrCat(i));
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const std::string& text : labels[i]) {
      int64_t value = 0;
      CHECK(absl::SimpleAtoi(text, &value));
      set.samples[i].labels.push_back(value);
    }
  }
  set.classes_are_numbers = true;
  return true;
}

// "1" and "1.0" are true, "0" and "0.0" are false.
std::optional<bool> ParseZeroOrOne(const std::string& text) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || (value != 0 && value != 1)) return std::nullopt;
  return value == 1;
}

absl::Status TooManyMistakes(const std::vector<std::string>& mistakes, absl::string_view cure) {
  return InvalidArgument(JoinSome(mistakes, 10), "; ", cure);
}

// One column for each class.
absl::Status ReadLabelColumns(const CsvTable& table, const CsvOptions& options, SampleSet& set) {
  std::vector<size_t> columns;
  for (const std::string& name : options.label_columns) {
    EST_ASSIGN_OR_RETURN(const size_t column, table.Column(name));
    columns.push_back(column);
  }
  set.classes = options.label_columns;
  set.multi_label = true;
  std::vector<std::string> mistakes;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string& text = table.rows[row][columns[i]];
      const std::optional<bool> value = ParseZeroOrOne(text);
      if (!value) {
        mistakes.push_back(absl::StrCat(table.Place(row), ": \"", text, "\" in column ",
                                        options.label_columns[i], " is not 0 or 1"));
      } else if (*value) {
        set.samples[row].labels.push_back(static_cast<int64_t>(i));
      }
    }
  }
  if (mistakes.empty()) return absl::OkStatus();
  return TooManyMistakes(mistakes, "--label_columns names a column for each class");
}

absl::Status ReadLabelColumn(const CsvTable& table, const CsvOptions& options, SampleSet& set) {
  EST_ASSIGN_OR_RETURN(const size_t column, table.Column(options.label_column));
  std::vector<std::vector<std::string>> labels;
  std::vector<std::string> mistakes;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& text = table.rows[row][column];
    if (!options.label_separator.empty()) {
      labels.push_back(absl::StrSplit(text, options.label_separator, absl::SkipWhitespace()));
    } else if (text.empty()) {
      mistakes.push_back(absl::StrCat(table.Place(row), " has no ", options.label_column));
    } else {
      labels.push_back({text});
    }
  }
  if (!mistakes.empty()) {
    return TooManyMistakes(mistakes,
                           "remove these rows, or, if images may have no label, pass "
                           "--label_separator");
  }
  set.multi_label = !options.label_separator.empty();
  if (!UseIntegers(labels, set)) NumberClasses(labels, set);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadSampleFile(const Sample& sample) { return ReadFile(sample.path); }

Sample FileSample(const std::string& path, const std::string& name) {
  return {.path = path,
          .name = name,
          .labels = {},
          .bytes = FileSize(path).value_or(0),
          .modified_seconds = FileModifiedTimeSeconds(path).value_or(0)};
}

absl::Status ForEachFile(const std::string& directory,
                         const std::function<absl::Status(const std::string& path)>& use) {
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory));
  for (const std::string& name : names) {
    if (name[0] == '.') continue;
    const std::string path = JoinPath(directory, name);
    EST_ASSIGN_OR_RETURN(const bool is_folder, DirectoryExists(path));
    EST_RETURN_IF_ERROR(is_folder ? ForEachFile(path, use) : use(path));
  }
  return absl::OkStatus();
}

absl::StatusOr<SampleSet> ClassFolderSamples(const std::string& directory) {
  SampleSet set;
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory));
  std::vector<std::string> beside, empty;
  for (const std::string& name : names) {
    if (name[0] == '.') continue;
    const std::string folder = JoinPath(directory, name);
    EST_ASSIGN_OR_RETURN(const bool is_folder, DirectoryExists(folder));
    if (!is_folder) {
      beside.push_back(name);
      continue;
    }
    const auto label = static_cast<int64_t>(set.classes.size());
    const size_t before = set.samples.size();
    EST_RETURN_IF_ERROR(ForEachFile(folder, [&](const std::string& path) {
      set.samples.push_back(FileSample(path, std::string(Basename(path))));
      set.samples.back().labels = {label};
      return absl::OkStatus();
    }));
    if (set.samples.size() == before) empty.push_back(name);
    set.classes.push_back(name);
  }
  if (set.samples.empty()) {
    return NotFound(directory, " has no folders with images. Expected a folder for each class (",
                    directory, "/daisy/1.jpg), IDX files (train-images-idx3-ubyte), or --csv");
  }
  if (!beside.empty()) {
    return InvalidArgument(directory,
                           " has files beside the folders of classes: ", JoinSome(beside, 5),
                           ". They have no class; move them away, or list all images with --csv");
  }
  if (!empty.empty()) {
    return InvalidArgument(directory, " has folders without files, which would be classes: ",
                           JoinSome(empty, 5), "; remove them");
  }
  return set;
}

namespace {

// A column of ids, as in many competitions, has no extensions: the first row shows it.
absl::Status CheckPathsHaveExtension(const CsvTable& table, size_t column,
                                     const std::string& directory, const CsvOptions& options) {
  const std::string& name = table.rows[0][column];
  const std::string path = IsAbsolutePath(name) ? name : JoinPath(directory, name);
  if (name.empty() || !options.path_suffix.empty() || FileExists(path)) return absl::OkStatus();
  for (const char* const suffix : {".jpg", ".jpeg", ".png", ".JPG", ".PNG"}) {
    if (!FileExists(path + suffix)) continue;
    return NotFound(table.Place(0), ": there is no file ", path, ", but ", path, suffix,
                    ": complete the ids of column ", table.columns[column],
                    " with --path_suffix=", suffix);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SampleSet> CsvSamples(const std::string& directory, const CsvOptions& options) {
  EST_ASSIGN_OR_RETURN(const CsvTable table, ReadCsv(options.csv));
  if (!options.label_column.empty() && !options.label_columns.empty()) {
    return InvalidArgument(
        "--label_column (one column with the class) and --label_columns (a column for each class) "
        "exclude each other");
  }
  size_t path_column = 0;
  if (!options.path_column.empty()) {
    EST_ASSIGN_OR_RETURN(path_column, table.Column(options.path_column));
  }
  if (table.rows.empty()) return InvalidArgument(options.csv + " has no rows");
  EST_RETURN_IF_ERROR(CheckPathsHaveExtension(table, path_column, directory, options));
  SampleSet set;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& name = table.rows[row][path_column];
    if (name.empty()) {
      return InvalidArgument(table.Place(row), " has no path in column ",
                             table.columns[path_column]);
    }
    const std::string file = absl::StrCat(name, options.path_suffix);
    const std::string path = IsAbsolutePath(file) ? file : JoinPath(directory, file);
    set.samples.push_back(FileSample(path, name));
  }
  if (!options.label_columns.empty()) {
    EST_RETURN_IF_ERROR(ReadLabelColumns(table, options, set));
  } else if (!options.label_column.empty()) {
    EST_RETURN_IF_ERROR(ReadLabelColumn(table, options, set));
  }
  return set;
}

absl::StatusOr<SampleSet> IdxSamples(const std::string& images, const std::string& labels) {
  EST_ASSIGN_OR_RETURN(const Array pixels, ReadIdx(images));
  EST_ASSIGN_OR_RETURN(const Array numbers, ReadIdx(labels));
  if (pixels.dtype() != DType::kUint8 || pixels.shape().rank() != 3 || pixels.num_elements() == 0) {
    return InvalidArgument(images, " has ", pixels.TypeString(),
                           ", expected u8 [images, height, width]");
  }
  if (numbers.dtype() != DType::kUint8 || numbers.shape().rank() != 1 ||
      numbers.shape()[0] != pixels.shape()[0]) {
    return InvalidArgument(labels, " has ", numbers.TypeString(), ", but ", images, " needs u8 [",
                           pixels.shape()[0], "]");
  }
  SampleSet set;
  int64_t largest = 0;
  const int64_t row_bytes = pixels.num_elements() / pixels.shape()[0];
  for (int64_t row = 0; row < pixels.shape()[0]; ++row) {
    const int64_t label = numbers.data<uint8_t>()[row];
    largest = std::max(largest, label);
    set.samples.push_back({.path = absl::StrCat(images, ":", row),
                           .name = absl::StrCat(Basename(images), ":", row),
                           .labels = {label},
                           .bytes = row_bytes});
  }
  for (int64_t i = 0; i <= largest; ++i) set.classes.push_back(absl::StrCat(i));
  set.classes_are_numbers = true;
  set.load = [pixels](const Sample& sample) -> absl::StatusOr<std::string> {
    int64_t row = -1;
    CHECK(absl::SimpleAtoi(sample.path.substr(sample.path.rfind(':') + 1), &row));
    const Array image = pixels.Row(row);
    return image::EncodePng(image.Reshaped({image.shape()[0], image.shape()[1], 1}));
  };
  return set;
}

}  // namespace estimator
