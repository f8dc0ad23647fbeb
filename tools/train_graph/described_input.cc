#include "tools/train_graph/described_input.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/base/usage_error.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/data/sources/idx.h"
#include "tools/train_graph/feature_file.h"
#include "tools/train_graph/value_range.h"

namespace estimator {
namespace {

constexpr absl::string_view kForms =
    "npy:FILE,FILE, idx:FILE,FILE, tfrecord:PATTERN with --features=FILE, or fixed:LOW..HIGH,VALUE";

std::string ShapeText(const TrainGraphInput& wanted) {
  return wanted.rank_known ? wanted.shape.ToString() : "of unknown rank";
}

std::string TypeText(const TrainGraphInput& wanted) {
  return absl::StrCat(DTypeName(wanted.dtype), " ", ShapeText(wanted));
}

std::string TypeText(DType dtype, const Shape& shape) {
  return absl::StrCat(DTypeName(dtype), " ", shape.ToString());
}

// Whether an array may have this shape without its axis 0.
bool RowFits(const Shape& row, const TrainGraphInput& wanted) {
  if (!wanted.rank_known) return true;
  if (wanted.shape.rank() != row.rank() + 1) return false;
  for (int axis = 0; axis < row.rank(); ++axis) {
    const int64_t size = wanted.shape[axis + 1];
    if (size != Shape::kUnknownDim && size != row[axis]) return false;
  }
  return true;
}

bool IsScalar(const TrainGraphInput& wanted) {
  return wanted.rank_known && wanted.shape.rank() == 0;
}

absl::Status ScalarError(const TrainGraphInput& wanted) {
  return InvalidArgument(
      wanted.name, " is a scalar (", DTypeName(wanted.dtype),
      "), which has no rows; only --input=fixed: gives it, or a program of your own "
      "(docs/zero_port.md)");
}

// The array with another integer type, if every value fits.
std::optional<Array> ConvertedIntegers(const Array& array, DType dtype) {
  if (!IsInteger(array.dtype()) || !IsInteger(dtype)) return std::nullopt;
  Array converted = array.Cast(dtype);
  // Compared as int64: 200 as an int8 is -56, although it is 200 again as a uint8.
  const Array before = array.Cast(DType::kInt64), after = converted.Cast(DType::kInt64);
  if (before.values<int64_t>() != after.values<int64_t>()) return std::nullopt;
  return converted;
}

// "1 array", "2 arrays".
std::string Count(size_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

absl::Status CheckCount(size_t given, absl::string_view what,
                        const std::vector<TrainGraphInput>& wanted) {
  if (given == wanted.size()) return absl::OkStatus();
  return InvalidArgument("--input gives ", Count(given, what), ", but the graph takes ",
                         wanted.size(), ", in this order:\n", InputTable(wanted));
}

absl::Status AllProblems(const std::vector<std::string>& problems) {
  if (problems.empty()) return absl::OkStatus();
  return InvalidArgument("--input: ", absl::StrJoin(problems, "\n"));
}

Dataset Batches(Dataset rows, const DescribedInputOptions& options, bool drop_remainder) {
  if (options.shuffle > 0) rows = rows.Shuffle(options.shuffle);
  if (options.repeat) rows = rows.Repeat();
  return rows.Shard(options.num_hosts, options.current_host, options.batch_size)
      .Batch(options.batch_size, {.drop_remainder = drop_remainder});
}

// Whether the graph takes one size of the batch only.
bool HasFixedSize(const TrainGraphInput& input) {
  return input.rank_known && input.shape.rank() > 0 && input.shape[0] != Shape::kUnknownDim;
}
bool HasFixedBatch(const std::vector<TrainGraphInput>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), HasFixedSize);
}

// Says which inputs an array fits that does not fit its own: files in another order are common.
std::string OtherPlaces(const Array& array, const std::string& path,
                        const std::vector<TrainGraphInput>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (FitRows(array, path, wanted[i]).ok()) {
      return absl::StrCat("; it fits input ", i, ", ", wanted[i].name,
                          ": the files may be in another order");
    }
  }
  return "";
}

absl::StatusOr<Dataset> FromFiles(const DescribedInputOptions& options, absl::string_view files,
                                  absl::StatusOr<Array> (*read)(StringArg),
                                  const std::vector<TrainGraphInput>& wanted) {
  const std::vector<std::string> paths = absl::StrSplit(files, ',', absl::SkipEmpty());
  EST_RETURN_IF_ERROR(CheckCount(paths.size(), "file", wanted));
  std::vector<std::string> problems, rows;
  std::set<int64_t> sizes;
  bool missing = false, damaged = false;
  Element arrays;
  for (size_t i = 0; i < paths.size(); ++i) {
    const absl::StatusOr<Array> array = read(paths[i]);
    if (!array.ok()) {
      (absl::IsNotFound(array.status()) ? missing : damaged) = true;
      problems.emplace_back(array.status().message());
      continue;
    }
    absl::StatusOr<Array> fitting = FitRows(*array, paths[i], wanted[i]);
    if (!fitting.ok()) {
      problems.push_back(
          absl::StrCat(fitting.status().message(), OtherPlaces(*array, paths[i], wanted)));
      continue;
    }
    sizes.insert(fitting->shape()[0]);
    rows.push_back(absl::StrCat(paths[i], " has ", fitting->shape()[0], " rows"));
    arrays.features.emplace(InputName(i, paths.size()), *std::move(fitting));
  }
  if (missing) {
    return NotFound("--input: ", absl::StrJoin(problems, "\n"));
  }
  if (damaged) {
    return DataLoss("--input: ", absl::StrJoin(problems, "\n"));
  }
  if (sizes.size() > 1) {
    problems.push_back(
        absl::StrCat(absl::StrJoin(rows, ", "), "; each example needs one row of each"));
  }
  EST_RETURN_IF_ERROR(AllProblems(problems));
  if (sizes.empty()) return InvalidArgument("--input: the graph takes no input");
  if (*sizes.begin() == 0) {
    return InvalidArgument("--input: ", absl::StrJoin(rows, ", "), "; there is nothing to read");
  }
  if (!options.repeat && HasFixedBatch(wanted) && *sizes.begin() < options.batch_size) {
    return InvalidArgument("--input: ", absl::StrJoin(rows, ", "),
                           ", but the graph takes batches of ", options.batch_size,
                           " only; give at least as many rows");
  }
  // A graph of one batch size cannot take a smaller last batch.
  return Batches(Dataset::FromTensorSlices(std::move(arrays)), options,
                 options.repeat || HasFixedBatch(wanted))
      .Prefetch(kAutotune);
}

// Checks the types of a feature file before any record is read.
absl::Status CheckFeatures(const std::vector<FileFeature>& features, const std::string& path,
                           const std::vector<TrainGraphInput>& wanted) {
  EST_RETURN_IF_ERROR(CheckCount(features.size(), "feature", wanted));
  std::vector<std::string> problems;
  for (size_t i = 0; i < features.size(); ++i) {
    const FileFeature& feature = features[i];
    if (IsScalar(wanted[i])) {
      problems.emplace_back(ScalarError(wanted[i]).message());
    } else if (feature.dtype != wanted[i].dtype || !RowFits(feature.shape, wanted[i])) {
      problems.push_back(absl::StrCat(
          path, ": ", feature.name, " is ", TypeText(feature.dtype, feature.shape),
          " for each example, but ", wanted[i].name, " is ", TypeText(wanted[i]),
          ", where axis 0 is the batch; correct the line, or convert in a program of your own "
          "(docs/zero_port.md)"));
    }
  }
  return AllProblems(problems);
}

// The features of a parsed batch under the names of the inputs.
absl::StatusOr<Element> InOrder(const Element& parsed, const std::vector<FileFeature>& features) {
  Element result;
  for (size_t i = 0; i < features.size(); ++i) {
    const FileFeature& feature = features[i];
    EST_ASSIGN_OR_RETURN(Array array, parsed.features.Get(feature.name));
    if (feature.raw) {
      const int64_t batch = array.shape()[0];
      absl::StatusOr<Array> decoded = DecodeRaw(array, feature.dtype);
      if (!decoded.ok()) return Annotate(decoded.status(), feature.name);
      Shape shape({batch});
      for (const int64_t size : feature.shape.dims()) shape.push_back(size);
      if (decoded->num_elements() != shape.num_elements()) {
        return InvalidArgument(feature.name, ": a string has ", decoded->shape()[-1],
                               " numbers of type ", DTypeName(feature.dtype),
                               ", but the shape of the feature file is ", feature.shape.ToString());
      }
      array = decoded->Reshaped(shape);
    }
    result.features.emplace(InputName(i, features.size()), std::move(array));
  }
  return result;
}

absl::StatusOr<Dataset> FromRecords(const DescribedInputOptions& options,
                                    absl::string_view patterns,
                                    const std::vector<TrainGraphInput>& wanted) {
  if (options.features.empty()) {
    return InvalidArgument(
        "--input=tfrecord: needs --features=FILE, which has one line for each input of the graph: "
        "NAME TYPE SHAPE [default=VALUE]");
  }
  absl::StatusOr<std::string> text = ReadFile(options.features);
  if (!text.ok()) return Annotate(text.status(), "--features");
  EST_ASSIGN_OR_RETURN(const std::vector<FileFeature> features,
                       ParseFeatureFile(*text, options.features));
  EST_RETURN_IF_ERROR(CheckFeatures(features, options.features, wanted));
  const std::vector<std::string> parts = absl::StrSplit(patterns, ',', absl::SkipEmpty());
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> files, MatchFiles(parts));
  FeatureSpecs specs;
  for (const FileFeature& feature : features) specs.emplace(feature.name, feature.spec);
  EST_RETURN_IF_ERROR(CheckFeatureSpecs(specs));
  return Batches(TFRecordDataset(files), options, options.repeat || HasFixedBatch(wanted))
      .Map(ParseExample(specs))
      .Map([features](const Element& parsed) { return InOrder(parsed, features); })
      .Prefetch(kAutotune);
}

// A batch for a graph that takes no input: the loops need rows to count.
Element NoInput(int64_t batch_size) {
  Element batch;
  batch.features.emplace("no_input", Array(DType::kUint8, Shape{batch_size}));
  return batch;
}

absl::StatusOr<Dataset> FixedBatch(const DescribedInputOptions& options, absl::string_view text,
                                   const std::vector<TrainGraphInput>& wanted) {
  const std::vector<std::string> words = absl::StrSplit(text, ',', absl::SkipEmpty());
  std::vector<ValueRange> ranges;
  for (const std::string& word : words) {
    EST_ASSIGN_OR_RETURN(ranges.emplace_back(), ParseValueRange(word));
  }
  if (words.empty()) ranges.resize(wanted.size());
  EST_RETURN_IF_ERROR(CheckCount(ranges.size(), "range", wanted));
  Element batch;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Shape shape = wanted[i].shape;
    if (shape.rank() > 0) shape.set_dim(0, options.batch_size * options.num_hosts);
    if (!wanted[i].rank_known || !shape.fully_known()) {
      return InvalidArgument("--input=fixed: the graph does not say the shape of ", wanted[i].name,
                             ", ", TypeText(wanted[i]),
                             "; give its values as --input=npy:FILE,FILE");
    }
    Philox random(static_cast<uint64_t>(options.seed), i);
    EST_ASSIGN_OR_RETURN(Array array, RandomArray(wanted[i], shape, ranges[i], random));
    if (shape.rank() > 0) {
      const int64_t begin = options.batch_size * options.current_host;
      array = array.Slice(begin, begin + options.batch_size);
    }
    batch.features.emplace(InputName(i, wanted.size()), std::move(array));
  }
  if (wanted.empty()) batch = NoInput(options.batch_size);
  const Dataset one = Dataset::FromTensors(std::move(batch));
  return (options.repeat ? one.Repeat() : one).Prefetch(kAutotune);
}

}  // namespace

std::string InputName(size_t i, size_t count) {
  const int digits = static_cast<int>(absl::StrCat(count).size());
  return absl::StrFormat("input_%0*d", digits, static_cast<int>(i));
}

std::string InputTable(const std::vector<TrainGraphInput>& wanted) {
  std::vector<std::vector<std::string>> rows = {{"input", "name", "dtype", "shape", "used"}};
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string& key = wanted[i].key;
    const std::string name =
        key.empty() ? wanted[i].name : absl::StrCat(key, " (", wanted[i].name, ")");
    rows.push_back({absl::StrCat(i), name, std::string(DTypeName(wanted[i].dtype)),
                    ShapeText(wanted[i]), wanted[i].used ? "yes" : "no"});
  }
  return FormatTable(rows);
}

absl::StatusOr<int64_t> ResolveBatchSize(int64_t given, int64_t num_shards,
                                         const std::vector<TrainGraphInput>& wanted) {
  for (const TrainGraphInput& input : wanted) {
    if (!HasFixedSize(input)) continue;
    const int64_t whole = input.shape[0] * num_shards;
    if (given == 0 || given == whole) return whole;
    return UsageError(absl::StrCat(
        "--batch_size is ", given, ", but the graph was built for batches of ", input.shape[0],
        num_shards > 1 ? absl::StrCat(" on each of ", num_shards, " replicas") : "", " (",
        input.name, " is ", TypeText(input), "); pass --batch_size=", whole, " or leave it out"));
  }
  if (given <= 0) {
    return UsageError(
        absl::StrCat("--batch_size must be positive, given ", given,
                     ": the graph takes batches of any size, so it does not say one"));
  }
  if (given % num_shards != 0) {
    return UsageError(absl::StrCat("--batch_size is ", given, ", which the ", num_shards,
                                   " replicas (--num_shards) cannot share equally"));
  }
  return given;
}

std::optional<std::vector<TensorSpec>> InputSpecs(const Dataset* input, int64_t batch_size,
                                                  const std::vector<TrainGraphInput>& wanted) {
  const std::optional<ElementSpec> given = input == nullptr ? std::nullopt : input->element_spec();
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < wanted.size(); ++i) {
    TensorSpec spec{wanted[i].dtype, wanted[i].shape};
    bool known = wanted[i].rank_known;
    if (given.has_value()) {
      const auto found = given->features.find(InputName(i, wanted.size()));
      if (found != given->features.end() && found->second.shape.has_value()) {
        spec.shape = *found->second.shape;
        known = true;
      }
    }
    if (spec.shape.rank() > 0) spec.shape.set_dim(0, batch_size);
    if (!known || !spec.shape.fully_known()) return std::nullopt;
    specs.push_back(std::move(spec));
  }
  return specs;
}

absl::StatusOr<Array> FitRows(const Array& array, const std::string& what,
                              const TrainGraphInput& wanted) {
  if (IsScalar(wanted)) return ScalarError(wanted);
  const std::string types =
      absl::StrCat(what, " is ", TypeText(array.dtype(), array.shape()), ", but ", wanted.name,
                   " is ", TypeText(wanted), ", where axis 0 is the batch");
  if (array.shape().rank() == 0) {
    return InvalidArgument(types, "; the array needs an axis 0 with a row for each example");
  }
  const Shape row(absl::MakeConstSpan(array.shape().dims()).subspan(1));
  if (!RowFits(row, wanted)) {
    return InvalidArgument(types,
                           "; the rows need another shape: numpy.reshape, or numpy.transpose if "
                           "the axes have another order");
  }
  if (array.dtype() == wanted.dtype) return array;
  if (std::optional<Array> converted = ConvertedIntegers(array, wanted.dtype)) return *converted;
  const absl::string_view dtype = DTypeName(wanted.dtype);
  absl::string_view scale;
  if (array.dtype() == DType::kUint8 && IsFloating(wanted.dtype)) {
    scale = "; if the program scaled the pixels, do the same (often / 255)";
  } else if (IsFloating(array.dtype()) && IsInteger(wanted.dtype)) {
    scale = ", which drops fractions: undo a scaling before (often * 255)";
  }
  return InvalidArgument(types, "; convert it: numpy.save(FILE, array.astype(\"", dtype, "\"))",
                         scale);
}

namespace {

absl::StatusOr<Dataset> MakeInput(const DescribedInputOptions& options,
                                  const std::vector<TrainGraphInput>& wanted) {
  const std::vector<std::string> words = absl::StrSplit(options.input, absl::MaxSplits(':', 1));
  const std::string& kind = words[0];
  if (words.size() == 2 && kind != "tfrecord" && !options.features.empty()) {
    return InvalidArgument("--features is for --input=tfrecord:PATTERN, given --input=", kind, ":");
  }
  if (words.size() == 2) {
    if (kind == "npy") return FromFiles(options, words[1], LoadNpy, wanted);
    if (kind == "idx") return FromFiles(options, words[1], ReadIdx, wanted);
    if (kind == "tfrecord") return FromRecords(options, words[1], wanted);
    if (kind == "fixed") return FixedBatch(options, words[1], wanted);
  }
  return InvalidArgument("--input must be ", kForms, "; given '", options.input,
                         "'. The graph takes:\n", InputTable(wanted));
}

}  // namespace

absl::StatusOr<Dataset> MakeDescribedInput(const DescribedInputOptions& options,
                                           const std::vector<TrainGraphInput>& wanted) {
  absl::StatusOr<Dataset> input = MakeInput(options, wanted);
  const bool wrong_flags =
      absl::IsInvalidArgument(input.status()) || absl::IsNotFound(input.status());
  if (wrong_flags) return AsUsageError(input.status());
  return input;
}

}  // namespace estimator
