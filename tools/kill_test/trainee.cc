#include "tools/kill_test/trainee.h"

#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/records/tfrecord.h"
#include "models/imagenet/drawn_pictures.h"
#include "models/imagenet/imagenet_input.h"
#include "models/imagenet/resnet_model.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/network.h"
#include "tpu/tpu_estimator.h"

namespace estimator::kill_test {
namespace {

constexpr int64_t kMnistBatch = 32;
constexpr int64_t kMnistExamples = 200;  // the steps of a run read them several times
constexpr int64_t kPictures = 60;
constexpr int64_t kPictureBatch = 16;
constexpr int64_t kPictureSize = 32;

// Appends lines with one system call each, so that a kill leaves whole lines.
class ExampleLog {
 public:
  static absl::StatusOr<std::shared_ptr<ExampleLog>> Open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
    return std::make_shared<ExampleLog>(fd);
  }
  explicit ExampleLog(int fd) : fd_(fd) {}
  ~ExampleLog() { ::close(fd_); }
  ExampleLog(const ExampleLog&) = delete;
  ExampleLog& operator=(const ExampleLog&) = delete;

  // step: i64 [N], all the same.  images: [M, ...].
  absl::Status Append(const Array& step, const Array& images) const {
    std::string line = absl::StrCat(step.data<int64_t>()[0]);
    const auto rows = static_cast<size_t>(images.shape()[0]);
    const size_t row_bytes = images.num_bytes() / rows;
    const char* const bytes = static_cast<const char*>(images.raw());
    for (size_t row = 0; row < rows; ++row)
      absl::StrAppend(&line, " ", absl::Hex(Crc32c(bytes + row * row_bytes, row_bytes)));
    line += '\n';
    if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      return absl::ErrnoToStatus(errno, "cannot write the examples of a step");
    return absl::OkStatus();
  }

 private:
  const int fd_;
};

tpu::TPUEstimatorSpec WithLog(const Tensor& loss, const Operation& train_op, const Tensor& images,
                              const std::shared_ptr<const ExampleLog>& log) {
  const Tensor step = Reshape(GetOrCreateGlobalStep(), {1});
  return tpu::TPUEstimatorSpec::Train(
      loss, train_op,
      {.host_call = HostCall{[log](const Array& s, const Array& i) { return log->Append(s, i); },
                             {step, images}}});
}

tpu::RunConfig Config(const TraineeOptions& options) {
  tpu::RunConfig config;
  config.model_dir = options.model_dir;
  config.tf_random_seed = 3;
  config.save_checkpoints_steps = options.save_checkpoints_steps;
  config.save_summary_steps = 1;
  config.log_step_count_steps = std::nullopt;
  config.tpu_config.iterations_per_loop = 2;
  return config;
}

absl::Status TrainMnist(const TraineeOptions& options, std::shared_ptr<const ExampleLog> log) {
  const auto model_fn = [log](const Features& features, const Tensor& labels, Mode mode,
                              const tpu::Params& params) {
    const Tensor logits = mnist::Inference(features["image"], mode);
    const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    auto optimizer = mnist::MakeOptimizer({.learning_rate = 0.02, .momentum = 0.9});
    if (params.use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
    return WithLog(loss, optimizer->Minimize(loss), features["image"], log);
  };
  const mnist::MnistData data = mnist::DrawMnist({.num_train = kMnistExamples, .num_test = 1});
  tpu::TPUEstimator<tpu::Params> estimator({.model_fn = model_fn,
                                            .config = Config(options),
                                            .params = {},
                                            .use_tpu = options.use_tpu,
                                            .train_batch_size = kMnistBatch});
  return estimator.Train(
      [&data](const tpu::Params& params) {
        return mnist::MnistDataset(data.train, Mode::kTrain, params.batch_size);
      },
      MaxSteps(options.max_steps));
}

absl::Status TrainResnet(const TraineeOptions& options, std::shared_ptr<const ExampleLog> log) {
  using imagenet::ResnetParams;
  ResnetParams params;
  params.network = {
      .resnet_depth = 18, .num_label_classes = imagenet::kNumDrawnClasses, .width = 8};
  params.learning_rate = {.train_batch_size = kPictureBatch,
                          .num_train_images = kPictures,
                          .train_steps = options.max_steps};
  params.skip_host_call = true;
  const auto model_fn = [log](const Features& features, const Labels& labels, Mode mode,
                              const ResnetParams& p) -> tpu::TPUEstimatorSpec {
    const ModelSpec spec = imagenet::ResnetModelFn(features, labels, mode, p).spec();
    return WithLog(spec.loss, spec.train_op, Tensor(features), log);
  };
  tpu::TPUEstimator<ResnetParams> estimator({.model_fn = model_fn,
                                             .config = Config(options),
                                             .params = params,
                                             .use_tpu = options.use_tpu,
                                             .train_batch_size = kPictureBatch});
  return estimator.Train(
      [&options](const ResnetParams& p) {
        return imagenet::ImageNetDataset({.data_dir = options.data_dir,
                                          .image_size = kPictureSize,
                                          .num_label_classes = imagenet::kNumDrawnClasses},
                                         Mode::kTrain, p.batch_size);
      },
      MaxSteps(options.max_steps));
}

}  // namespace

std::string ExamplesPath(const std::string& model_dir) {
  return JoinPath(model_dir, "examples.txt");
}

absl::Status Train(const TraineeOptions& options) {
  EST_RETURN_IF_ERROR(CreateDirectories(options.model_dir));
  EST_ASSIGN_OR_RETURN(const auto log, ExampleLog::Open(ExamplesPath(options.model_dir)));
  if (options.model == "mnist") return TrainMnist(options, log);
  if (options.model == "resnet") return TrainResnet(options, log);
  return InvalidArgument("--model must be mnist or resnet, given \"", options.model, "\"");
}

absl::Status WritePictures(const std::string& data_dir) {
  constexpr int kFiles = 3;
  EST_RETURN_IF_ERROR(CreateDirectories(data_dir));
  for (int file = 0; file < kFiles; ++file) {
    EST_ASSIGN_OR_RETURN(
        const auto writer,
        TFRecordWriter::Open(JoinPath(data_dir, absl::StrCat("train-", file, "-of-", kFiles))));
    for (int64_t i = file; i < kPictures; i += kFiles) {
      EST_ASSIGN_OR_RETURN(const std::string example,
                           imagenet::DrawnExample(/*seed=*/1, static_cast<uint64_t>(i)));
      EST_RETURN_IF_ERROR(writer->Write(example));
    }
    EST_RETURN_IF_ERROR(writer->Close());
  }
  return absl::OkStatus();
}

}  // namespace estimator::kill_test
