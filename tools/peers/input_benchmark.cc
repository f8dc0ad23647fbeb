// Measures input pipelines, one row at a time, and prints one line of JSON. tf_data.py does the
// same work with tf.data, on the files that this program writes into --work_dir.
//
//   input_benchmark --row=parse_small --work_dir=/tmp/w      Examples: 13 floats, 26 strings, a
//                                                            label
//   input_benchmark --row=parse_images --work_dir=/tmp/w     Examples: 100,000 bytes and a label
//   input_benchmark --row=shuffle_batch --data_dir=$HOME/mnist
//   input_benchmark --row=jpeg_bilinear --work_dir=/tmp/w --images=DIR     random crops to 224x224
//   input_benchmark --row=jpeg_bicubic --work_dir=/tmp/w --images=DIR
#include <gflags/gflags.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/image/geometry.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/resize/resize.h"
#include "estimator/training/report.h"
#include "models/mnist/mnist_data.h"
#include "tools/peers/input_files.h"

DEFINE_string(row, "", "parse_small, parse_images, shuffle_batch, jpeg_bilinear or jpeg_bicubic");
DEFINE_string(work_dir, "", "folder for the files that both programs read; made if it is absent");
DEFINE_string(data_dir, "", "folder of MNIST's four files, for shuffle_batch; empty: drawn digits");
DEFINE_string(images, "", "folder of JPEG files, for the jpeg rows; empty: one drawn picture");
DEFINE_int64(steps, 100, "batches that are measured");
DEFINE_double(seconds, 0, "stop after so many measured seconds, even before --steps; 0: no limit");
DEFINE_int64(warmup_steps, 5, "batches before those that are measured");
DEFINE_int32(threads, 0, "threads of a pipeline; 0: as many as OpenMP has");
DEFINE_int64(examples, 20000, "Examples of parse_small; parse_images has a fiftieth of them");

namespace estimator {
namespace {

constexpr int64_t kImageSize = 224;

int Threads() { return FLAGS_threads > 0 ? FLAGS_threads : omp_get_max_threads(); }

struct Row {
  Dataset dataset;
  int64_t batch_size;
};

absl::StatusOr<Row> ParseRow(bool small) {
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                       small ? peers::WriteSmallExamples(FLAGS_work_dir, FLAGS_examples)
                             : peers::WriteImageExamples(FLAGS_work_dir, FLAGS_examples / 50));
  const int64_t batch_size = small ? 1024 : 128;
  return Row{TFRecordDataset(files, {.num_parallel_reads = Threads()})
                 .Repeat()
                 .Batch(batch_size, {.drop_remainder = true})
                 .Map(ParseExample(small ? peers::SmallSpecs() : peers::ImageSpecs()),
                      {.num_parallel_calls = Threads()}),
             batch_size};
}

absl::StatusOr<Row> ShuffleRow() {
  constexpr int64_t kBatch = 1024;
  EST_ASSIGN_OR_RETURN(const mnist::MnistData data, mnist::LoadMnist(FLAGS_data_dir, kBatch));
  return Row{mnist::MnistDataset(data.train, Mode::kTrain, kBatch), kBatch};
}

absl::StatusOr<Array> Decode(const std::vector<std::string>& files, const peers::Crop& crop,
                             image::ResizeMethod method) {
  EST_ASSIGN_OR_RETURN(const Array pixels,
                       image::DecodeAndCropJpeg(files[crop.file], crop.window, {.channels = 3}));
  EST_ASSIGN_OR_RETURN(Array resized,
                       image::Resize(pixels, {kImageSize, kImageSize}, {.method = method}));
  if (!crop.flip) return resized;
  return image::FlipLeftRight(resized);
}

absl::StatusOr<Row> JpegRow(image::ResizeMethod method, const std::string& name) {
  constexpr int64_t kBatch = 32;
  constexpr size_t kPixelsToCompare = 16;
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> read,
                       peers::WriteJpegs(FLAGS_work_dir, FLAGS_images));
  const auto files = std::make_shared<const std::vector<std::string>>(read);
  EST_ASSIGN_OR_RETURN(const std::vector<peers::Crop> made,
                       peers::WriteCrops(FLAGS_work_dir, *files));
  const auto crops = std::make_shared<const std::vector<peers::Crop>>(made);
  std::string pixels;
  for (size_t i = 0; i < std::min(kPixelsToCompare, crops->size()); ++i) {
    EST_ASSIGN_OR_RETURN(const Array image, Decode(*files, (*crops)[i], method));
    pixels.append(static_cast<const char*>(image.raw()), image.num_bytes());
  }
  EST_RETURN_IF_ERROR(
      WriteFileAtomically(JoinPath(FLAGS_work_dir, absl::StrCat("pixels_", name, ".f32")), pixels));
  return Row{Dataset::Range(0, static_cast<int64_t>(crops->size()))
                 .Repeat()
                 .Map(
                     [files, crops, method](const Element& element) -> absl::StatusOr<Element> {
                       EST_ASSIGN_OR_RETURN(const Array number, element.features.Only());
                       const auto i = static_cast<size_t>(number.scalar<int64_t>());
                       EST_ASSIGN_OR_RETURN(Array image, Decode(*files, (*crops)[i], method));
                       return Element{.features = std::move(image), .labels = {}};
                     },
                     {.num_parallel_calls = Threads()})
                 .Batch(kBatch, {.drop_remainder = true})
                 .Prefetch(2),
             kBatch};
}

absl::StatusOr<Row> MakeRow() {
  if (FLAGS_row == "shuffle_batch") return ShuffleRow();
  if (FLAGS_row == "parse_small" || FLAGS_row == "parse_images")
    return ParseRow(FLAGS_row == "parse_small");
  if (FLAGS_row == "jpeg_bilinear") return JpegRow(image::ResizeMethod::kBilinear, "bilinear");
  return JpegRow(image::ResizeMethod::kBicubic, "bicubic");
}

absl::Status CheckFlags() {
  const std::vector<std::string> rows = {"parse_small", "parse_images", "shuffle_batch",
                                         "jpeg_bilinear", "jpeg_bicubic"};
  std::vector<std::string> wrong;
  if (std::find(rows.begin(), rows.end(), FLAGS_row) == rows.end()) {
    wrong.push_back(
        absl::StrCat("--row must be one of ", absl::StrJoin(rows, ", "), ", given ", FLAGS_row));
  }
  if (FLAGS_work_dir.empty() && FLAGS_row != "shuffle_batch")
    wrong.emplace_back("--work_dir must be given: the folder for the files that are read");
  if (FLAGS_steps <= 0)
    wrong.push_back(absl::StrCat("--steps must be positive, given ", FLAGS_steps));
  if (FLAGS_warmup_steps < 0)
    wrong.push_back(absl::StrCat("--warmup_steps must be >= 0, given ", FLAGS_warmup_steps));
  if (!(FLAGS_seconds >= 0))
    wrong.push_back(absl::StrCat("--seconds must be >= 0, given ", FLAGS_seconds));
  if (FLAGS_examples < 50)
    wrong.push_back(absl::StrCat("--examples must be at least 50, given ", FLAGS_examples));
  return wrong.empty() ? absl::OkStatus() : UsageError(absl::StrJoin(wrong, "; "));
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(CheckFlags());
  EST_ASSIGN_OR_RETURN(const Row row, MakeRow());
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, row.dataset.MakeIterator());
  const auto next = [&]() -> absl::Status {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, iterator->Next());
    return element.has_value() ? absl::OkStatus() : absl::InternalError("the input ended");
  };
  for (int64_t i = 0; i < FLAGS_warmup_steps; ++i) EST_RETURN_IF_ERROR(next());
  const Clock clock = SteadyClock();
  const double begin = clock();
  double seconds = 0;
  int64_t examples = 0;
  for (int64_t i = 0; i < FLAGS_steps; ++i) {
    EST_RETURN_IF_ERROR(next());
    examples += row.batch_size;
    seconds = clock() - begin;
    if (FLAGS_seconds > 0 && seconds >= FLAGS_seconds) break;
  }
  std::cout << ToJsonLine({{"program", "input_benchmark"},
                           {"row", FLAGS_row},
                           {"examples_per_second", static_cast<double>(examples) / seconds},
                           {"measured_examples", examples},
                           {"peak_rss_mib", PeakRssMib()},
                           {"threads", static_cast<int64_t>(Threads())}})
            << std::endl;
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures an input pipeline and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::Run);
}
