#include "models/mnist/mnist_data.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"
#include "estimator/data/sources/idx.h"

namespace estimator::mnist {
namespace {

constexpr const char* kTrainImages = "train-images-idx3-ubyte";
constexpr const char* kTrainLabels = "train-labels-idx1-ubyte";
constexpr const char* kTestImages = "t10k-images-idx3-ubyte";
constexpr const char* kTestLabels = "t10k-labels-idx1-ubyte";

// The index of the first test example in the infinite set. Training examples have smaller indices.
constexpr uint64_t kFirstTestIndex = uint64_t{1} << 40;

// Returns the path of a file, or of the file with .gz, or "" if neither exists.
std::string FindFile(absl::string_view data_dir, absl::string_view name) {
  for (const absl::string_view suffix : {"", ".gz"}) {
    std::string path = JoinPath(data_dir, absl::StrCat(name, suffix));
    if (FileExists(path)) return path;
  }
  return "";
}

// Returns the numbers of the records whose label is a digit, and logs the others.
// Errors: INVALID_ARGUMENT naming the record if more than skip_bad_records are not.
absl::StatusOr<std::vector<int64_t>> GoodRecords(const Array& labels, const std::string& path,
                                                 int64_t skip_bad_records) {
  std::vector<int64_t> good;
  int64_t num_bad = 0;
  const absl::Span<const uint8_t> values = labels.values<uint8_t>();
  for (size_t record = 0; record < values.size(); ++record) {
    if (values[record] < kNumClasses) {
      good.push_back(static_cast<int64_t>(record));
      continue;
    }
    const std::string problem =
        absl::StrCat(path, ": record ", record, " has label ", values[record],
                     ", which is not in [0, ", kNumClasses, ")");
    if (num_bad == skip_bad_records) {
      return absl::InvalidArgumentError(
          num_bad == 0 ? problem
                       : absl::StrCat(problem, "; ", num_bad,
                                      " bad records before it were skipped, "
                                      "and no more may be (skip_bad_records)"));
    }
    LOG(WARNING) << problem << "; it is skipped; bad records of this file so far: " << ++num_bad
                 << ", at most " << skip_bad_records;
  }
  return good;
}

// Returns the rows with these numbers.
Array Rows(const Array& array, const std::vector<int64_t>& rows) {
  if (static_cast<int64_t>(rows.size()) == array.shape()[0]) return array;
  Shape shape = array.shape();
  shape.set_dim(0, static_cast<int64_t>(rows.size()));
  Array result(array.dtype(), shape);
  const size_t row_bytes = array.num_bytes() / static_cast<size_t>(array.shape()[0]);
  auto* out = static_cast<char*>(result.raw());
  for (const int64_t row : rows) {
    std::memcpy(out, static_cast<const char*>(array.raw()) + static_cast<size_t>(row) * row_bytes,
                row_bytes);
    out += row_bytes;
  }
  return result;
}

// Reads images and labels, and checks that they match.
absl::StatusOr<DigitSet> ReadSet(absl::string_view data_dir, absl::string_view images_name,
                                 absl::string_view labels_name, int64_t skip_bad_records) {
  const std::string images_path = FindFile(data_dir, images_name);
  const std::string labels_path = FindFile(data_dir, labels_name);
  EST_ASSIGN_OR_RETURN(const Array images, ReadIdx(images_path));
  EST_ASSIGN_OR_RETURN(const Array labels, ReadIdx(labels_path));
  const Shape& shape = images.shape();
  if (images.dtype() != DType::kUint8 || shape.rank() != 3 || shape[1] != kImageSide ||
      shape[2] != kImageSide) {
    return InvalidArgument(images_path, ": expected images u8 [N,28,28], but the file has ",
                           images.TypeString());
  }
  if (labels.dtype() != DType::kUint8 || labels.shape().rank() != 1) {
    return InvalidArgument(labels_path, ": expected labels u8 [N], but the file has ",
                           labels.TypeString());
  }
  if (shape[0] != labels.shape()[0]) {
    return InvalidArgument(images_path, " has ", shape[0], " images, but ", labels_path, " has ",
                           labels.shape()[0], " labels; the files must be of one set");
  }
  if (shape[0] == 0) return InvalidArgument(images_path, " has no images");
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> good,
                       GoodRecords(labels, labels_path, skip_bad_records));
  return DigitSet{.images = Rows(images, good),
                  .labels = Rows(labels, good).Cast(DType::kInt32),
                  .name = "MNIST"};
}

}  // namespace

absl::Status CheckDataDir(absl::string_view data_dir) {
  if (data_dir.empty()) return absl::OkStatus();
  const std::vector<absl::string_view> names = {kTrainImages, kTrainLabels, kTestImages,
                                                kTestLabels};
  std::string problem;
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(data_dir));
  if (!is_directory) {
    problem = FileExists(data_dir)
                  ? absl::StrCat("'", data_dir, "' is a file, but must be the folder of the files")
                  : absl::StrCat("no such directory: '", data_dir, "'");
  } else {
    std::vector<absl::string_view> missing;
    for (const absl::string_view name : names) {
      if (FindFile(data_dir, name).empty()) missing.push_back(name);
    }
    if (missing.empty()) return absl::OkStatus();
    problem = absl::StrCat("'", data_dir, "' has no ", absl::StrJoin(missing, ", no "));
  }
  return NotFound(problem, ". MNIST is the four files ", absl::StrJoin(names, ", "),
                  ", each plain or as .gz. Without a data_dir, the program "
                  "draws digits instead");
}

absl::StatusOr<MnistData> ReadMnist(absl::string_view data_dir, int64_t skip_bad_records) {
  if (const absl::Status status = CheckDataDir(data_dir); !status.ok()) {
    return Annotate(status, "data_dir");
  }
  MnistData data;
  EST_ASSIGN_OR_RETURN(data.train, ReadSet(data_dir, kTrainImages, kTrainLabels, skip_bad_records));
  EST_ASSIGN_OR_RETURN(data.test, ReadSet(data_dir, kTestImages, kTestLabels, skip_bad_records));
  return data;
}

MnistData DrawMnist(const DrawOptions& options) {
  return {.train = DrawDigits(options.seed, 0, options.num_train),
          .test = DrawDigits(options.seed, kFirstTestIndex, options.num_test)};
}

absl::StatusOr<MnistData> LoadMnist(absl::string_view data_dir, int64_t batch_size,
                                    const LoadOptions& options) {
  const auto check_batch = [&](int64_t num_train) {
    if (batch_size <= num_train) return absl::OkStatus();
    return UsageError(absl::StrCat("--batch_size must be at most the ", num_train,
                                   " training images, given ", batch_size));
  };
  if (!data_dir.empty()) {
    EST_ASSIGN_OR_RETURN(MnistData data, ReadMnist(data_dir, options.skip_bad_records));
    EST_RETURN_IF_ERROR(check_batch(data.train.labels.num_elements()));
    LOG(INFO) << "Read MNIST from " << data_dir << ": " << data.train.labels.num_elements()
              << " training and " << data.test.labels.num_elements() << " test images";
    return data;
  }
  EST_RETURN_IF_ERROR(check_batch(options.draw.num_train));
  LOG(INFO) << "No --data_dir: drawing " << options.draw.num_train << " training and "
            << options.draw.num_test << " test digits (seed " << options.draw.seed
            << "); these are not MNIST's images";
  return DrawMnist(options.draw);
}

Dataset MnistDataset(const DigitSet& set, Mode mode, int64_t batch_size, int hosts, int host) {
  const Dataset examples = Dataset::FromTensorSlices(
      {.features = {{"image", set.images}}, .labels = set.labels}, set.name);
  if (mode != Mode::kTrain) return examples.Batch(batch_size).Prefetch(2);
  return examples.Shuffle(set.labels.num_elements())
      .Repeat()
      .Shard(hosts, host, batch_size)
      .Batch(batch_size, {.drop_remainder = true})
      .Prefetch(2);
}

DigitSet FirstExamples(const DigitSet& set, int64_t count) {
  const int64_t end = std::min(count, set.labels.num_elements());
  return {.images = set.images.Slice(0, end), .labels = set.labels.Slice(0, end), .name = set.name};
}

}  // namespace estimator::mnist
