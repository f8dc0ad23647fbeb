// Measures how many Examples per second are read from TFRecord files and parsed:
//   bazel run -c opt //estimator/data/parsing:parse_example_benchmark -- [NUM_EXAMPLES]
// It writes files of two kinds into $TMPDIR, small features (13 floats, 26 strings and a label, as
// Criteo's) and images (100,000 bytes and a label), reads them once to fill the page cache, and
// prints a line for each way to read and parse them. Beside TensorFlow:
//   tf.data.TFRecordDataset(file).map(lambda x: tf.io.parse_single_example(x, specs))
//   tf.data.TFRecordDataset(file).batch(1024).map(lambda x: tf.io.parse_example(x, specs))
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/tfrecord.h"

namespace {

using estimator::Dataset;
using estimator::DType;
using estimator::ExampleBuilder;
using estimator::FeatureSpecs;
using estimator::FixedLenFeature;

constexpr int kNumFloats = 13, kNumStrings = 26;

std::string SmallExample(int i) {
  ExampleBuilder example;
  for (int k = 0; k < kNumFloats; ++k) {
    example.Floats(absl::StrCat("float_", k), {static_cast<float>(i + k)});
  }
  for (int k = 0; k < kNumStrings; ++k) {
    example.Bytes(absl::StrCat("string_", k), {absl::StrCat(i * 31 + k)});
  }
  return example.Ints("label", {i % 2}).Serialize();
}
FeatureSpecs SmallSpecs() {
  FeatureSpecs specs = {{"label", FixedLenFeature{.dtype = DType::kInt64}}};
  for (int k = 0; k < kNumFloats; ++k) specs[absl::StrCat("float_", k)] = FixedLenFeature{};
  for (int k = 0; k < kNumStrings; ++k) {
    specs[absl::StrCat("string_", k)] = FixedLenFeature{.dtype = DType::kString};
  }
  return specs;
}

std::string ImageExample(int i) {
  return ExampleBuilder()
      .Bytes("image/encoded", {std::string(100000, static_cast<char>(i))})
      .Ints("image/class/label", {i % 1000})
      .Serialize();
}
FeatureSpecs ImageSpecs() {
  return {{"image/encoded", FixedLenFeature{.dtype = DType::kString}},
          {"image/class/label", FixedLenFeature{.dtype = DType::kInt64}}};
}

std::vector<std::string> Write(const std::string& name, int count, std::string (*example)(int)) {
  constexpr int kNumFiles = 4;
  const char* const directory = std::getenv("TMPDIR");
  std::vector<std::string> files;
  for (int f = 0; f < kNumFiles; ++f) {
    files.push_back(absl::StrCat(directory != nullptr ? directory : "/tmp", "/parse_example_", name,
                                 "-", f, ".tfrecord"));
    const auto writer = estimator::TFRecordWriter::Open(files.back()).value();
    for (int i = f; i < count; i += kNumFiles) {
      if (!writer->Write(example(i)).ok()) std::abort();
    }
    if (!writer->Close().ok()) std::abort();
  }
  return files;
}

// Prints the number of examples per second that a pass gives.
void Measure(const std::string& name, const Dataset& dataset, int count) {
  const auto iterator = dataset.MakeIterator().value();
  const auto begin = std::chrono::steady_clock::now();
  while (iterator->Next().value().has_value()) continue;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%-40s %10.0f examples/s\n", name.c_str(), count / seconds.count());
}

void MeasureAll(const std::string& kind, int count, int batch_size, std::string (*example)(int),
                const FeatureSpecs& specs) {
  const std::vector<std::string> files = Write(kind, count, example);
  const Dataset records = estimator::TFRecordDataset(files);
  const Dataset ahead = estimator::TFRecordDataset(files, {.num_parallel_reads = 2});
  const auto parse = estimator::ParseExample(specs);
  const auto name = [&](const char* what) { return absl::StrCat(kind, ": ", what); };
  Measure(name("first read"), records, count);
  Measure(name("read"), records, count);
  Measure(name("read in 2 threads"), ahead, count);
  Measure(name("read, parse"), records.Map(parse), count);
  Measure(name("read, batch, parse"), records.Batch(batch_size).Map(parse), count);
  Measure(name("read, batch, parse in 2 threads"),
          ahead.Batch(batch_size).Map(parse, {.num_parallel_calls = 2}), count);
  for (const std::string& file : files) {
    if (!estimator::RemoveFile(file).ok()) std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200000;
  MeasureAll("small", count, 1024, SmallExample, SmallSpecs());
  MeasureAll("images", count / 50, 128, ImageExample, ImageSpecs());
  return 0;
}
