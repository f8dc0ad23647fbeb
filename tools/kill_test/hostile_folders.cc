#include "tools/kill_test/hostile_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/training/testing/tiny_model.h"

namespace estimator::kill_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles[] = {".train.lock",
                                  "graph.pbtxt",
                                  "checkpoint",
                                  "model.ckpt-8.meta",
                                  "model.ckpt-8.input",
                                  "model.ckpt-8.index",
                                  "model.ckpt-8.data-00000-of-00001",
                                  "model.ckpt-12.meta",
                                  "model.ckpt-12.index",
                                  "eval",
                                  ".model.ckpt-12.tmp-1-1.index",
                                  "model.ckpt-99.index",
                                  "model.ckpt-99.data-00000-of-00001",
                                  "events.out.tfevents.1.vm"};

struct Kind {
  const char* name;
  std::function<absl::Status(const std::string& path, const HostileOptions& options)> make;
};

absl::Status Link(const std::string& to, const std::string& path) {
  std::error_code error;
  fs::create_symlink(to, path, error);
  return error ? absl::ErrnoToStatus(error.value(), path) : absl::OkStatus();
}

// A file of `size` bytes that takes no space.
absl::Status Sparse(const std::string& path, int64_t size) {
  EST_RETURN_IF_ERROR(WriteFileAtomically(path, ""));
  return ::truncate(path.c_str(), size) == 0 ? absl::OkStatus() : absl::ErrnoToStatus(errno, path);
}

const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"a link to a file of the user",
       [](const auto& path, const auto& options) { return Link(options.thesis, path); }},
      {"a link to ../ and a new name",
       [](const auto& path, const auto&) { return Link("../new", path); }},
      {"a link to itself", [](const auto& path, const auto&) { return Link(path, path); }},
      {"a link to a folder",
       [](const auto& path, const auto& options) { return Link(options.disk, path); }},
      {"a link to /dev/zero",
       [](const auto& path, const auto&) { return Link("/dev/zero", path); }},
      {"a pipe",
       [](const auto& path, const auto&) {
         return ::mkfifo(path.c_str(), 0600) == 0 ? absl::OkStatus()
                                                  : absl::ErrnoToStatus(errno, path);
       }},
      {"a folder",
       [](const auto& path, const auto&) { return CreateDirectories(JoinPath(path, "keep")); }},
      {"empty", [](const auto& path, const auto&) { return WriteFileAtomically(path, ""); }},
      {"of a terabyte",
       [](const auto& path, const auto&) { return Sparse(path, int64_t{1} << 40); }},
      {"other bytes",
       [](const auto& path, const auto&) {
         std::string bytes;
         for (uint32_t i = 0; i < 4000; ++i) bytes += static_cast<char>((i * 2654435761u) >> 24);
         return WriteFileAtomically(path, bytes);
       }},
  };
  return kinds;
}

// The state files. "THESIS" and "ELSEWHERE" are paths of the user.
std::vector<std::string> States() {
  const auto repeated = [](absl::string_view text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) absl::StrAppend(&all, text);
    return all;
  };
  const std::string first = "model_checkpoint_path: \"model.ckpt-8\"\n";
  const auto all = [](absl::string_view path) {
    return absl::StrCat("all_model_checkpoint_paths: \"", path, "\"\n");
  };
  std::vector<std::string> states = {
      first + repeated(all("THESIS"), 6),
      first + repeated(all("../thesis.tex"), 6),
      first + repeated(all("ELSEWHERE/model.ckpt-4"), 6),
      first + repeated(all("../elsewhere/model.ckpt-4"), 6),
      first + repeated(all("./../elsewhere/./model.ckpt-4"), 6),
      first + repeated(all("m/../../elsewhere/model.ckpt-8"), 6),
      first + repeated(all(".."), 6) + all("") + all(".") + all("/"),
      "model_checkpoint_path: \"ELSEWHERE/model.ckpt-4\"\n",
      "model_checkpoint_path: \"ELSEWHERE/model.ckpt-77\"\n",
      "model_checkpoint_path: \"../elsewhere/model.ckpt-4\"\n",
      "model_checkpoint_path: \"THESIS\"\n",
      "model_checkpoint_path: \"/dev/zero\"\n",
      "model_checkpoint_path: \"/dev/stdin\"\n",
      "model_checkpoint_path: \"/proc/self/mem\"\n",
      "model_checkpoint_path: \"..\"\n",
      "model_checkpoint_path: \"checkpoint\"\n",
      "model_checkpoint_path: \"\"\n",
      "model_checkpoint_path: \"model.ckpt-8/\"\n",
      "model_checkpoint_path: \"//model.ckpt-8\"\n",
      "model_checkpoint_path: \"model.ckpt-99999999999999999999\"\n",
      "model_checkpoint_path: \"model.ckpt--8\"\n",
      "model_checkpoint_path: \"model.ckpt-8\\000x\"\n",
      "model_checkpoint_path: \"model.ckpt-8\\n\"\n",
      "model_checkpoint_path: \"\\377\\376\"\n",
      "model_checkpoint_path: \"%s%n%s\"\n",
      "model_checkpoint_path: \"gs://bucket/model.ckpt-8\"\n",
      "model_checkpoint_path: \"[a-z]*?\"\n",
      absl::StrCat("model_checkpoint_path: \"", std::string(5000, 'a'), "\"\n"),
      absl::StrCat("model_checkpoint_path: \"", repeated("a/", 3000), "\"\n"),
      absl::StrCat("model_checkpoint_path: \"", std::string(200, 'a'), "\"\n"),
      first + repeated(all("model.ckpt-8"), 50),
      first + repeated(all("model.ckpt-4"), 3) + all("model.ckpt-8"),
      first + repeated(all("model.ckpt-0004"), 6) + repeated(all("model.ckpt-+4"), 6),
      first + repeated(all("model.ckpt-4-\?\?\?\?\?-of-00002"), 6),
      first + repeated(all("model.ckpt-4.index"), 6) + repeated(all("eval"), 6),
      first + repeated(all("x"), 100000),
      first + all("model.ckpt-8") + "all_model_checkpoint_timestamps: nan\n",
      first + all("model.ckpt-8") + "all_model_checkpoint_timestamps: inf\n",
      first + all("model.ckpt-8") + "all_model_checkpoint_timestamps: -1e308\n",
      first + "last_preserved_timestamp: inf\n",
      first + "last_preserved_timestamp: nan\n",
      first + repeated("a { ", 1000) + repeated("}", 1000),
      first + "u " + repeated("{a ", 100000) + repeated("}", 100000),
      first + "u " + repeated("[", 100000) + repeated("]", 100000),
      first + "u: \"" + std::string(1 << 20, 'x') + "\"\n",
      first + repeated("u: \"x\" ", 100000),
      first + first + first,
      repeated("{", 1000000),
      std::string(1 << 20, '\0'),
      "\xef\xbb\xbf" + first,
  };
  return states;
}

std::string Replaced(std::string text, absl::string_view what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what.data(), at, what.size())) != std::string::npos;
       at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Files of odd names beside the others.
const std::vector<std::string>& OddNames() {
  static const auto& names =
      *new std::vector<std::string>{"model.ckpt-99999999999999999999.index",
                                    "model.ckpt--1.index",
                                    "model.ckpt-.index",
                                    "model.ckpt-8.data-00001-of-00002",
                                    "model.ckpt-\xff\xfe.index",
                                    "model.ckpt-9\n.index",
                                    std::string(250, 'a'),
                                    ".model.ckpt-8.tmp-99999999999999999999-1.index",
                                    "model.ckpt-12.data-99999-of-99999",
                                    "events.out.tfevents.99999999999999999999.vm"};
  return names;
}

Estimator<TinyParams>::Options OptionsOf(const std::string& model_dir) {
  auto options = TinyOptions(model_dir);
  options.config.save_checkpoints_steps = 4;
  options.config.keep_checkpoint_max = 2;
  options.config.save_summary_steps = 4;
  options.config.checkpoint_save_graph_def = true;
  return options;
}

}  // namespace

absl::Status TrainTiny(const std::string& model_dir, int64_t max_steps) {
  Estimator<TinyParams> estimator(OptionsOf(model_dir));
  return estimator.Train([](const TinyParams&) { return TinyDataset(5).Repeat(); },
                         MaxSteps(max_steps));
}

absl::Status EvaluateTiny(const std::string& model_dir) {
  Estimator<TinyParams> estimator(OptionsOf(model_dir));
  return estimator.Evaluate([](const TinyParams&) { return TinyDataset(5); }).status();
}

absl::StatusOr<std::string> MakeHostileFolder(int index, const HostileOptions& options) {
  std::error_code error;
  fs::copy(options.whole, options.to, fs::copy_options::recursive, error);
  if (error) return absl::ErrnoToStatus(error.value(), options.to);
  const auto in_files = static_cast<int>(std::size(kFiles) * Kinds().size());
  const std::vector<std::string> states = States();
  if (index < in_files) {
    const char* const file = kFiles[static_cast<size_t>(index) / Kinds().size()];
    const Kind& kind = Kinds()[static_cast<size_t>(index) % Kinds().size()];
    const std::string path = JoinPath(options.to, file);
    fs::remove_all(path, error);
    EST_RETURN_IF_ERROR(kind.make(path, options));
    return absl::StrCat(file, ": ", kind.name);
  }
  index -= in_files;
  if (index < static_cast<int>(states.size())) {
    const std::string state =
        Replaced(Replaced(states[static_cast<size_t>(index)], "THESIS", options.thesis),
                 "ELSEWHERE", options.elsewhere);
    EST_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(options.to, "checkpoint"), state));
    return absl::StrCat("checkpoint: ", state.substr(0, 120));
  }
  const std::string& name = OddNames()[static_cast<size_t>(index) - states.size()];
  EST_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(options.to, name), "odd").ok()
                          ? absl::OkStatus()
                          : WritableFile::Open(JoinPath(options.to, name)).status());
  return absl::StrCat("a file ", name);
}

}  // namespace estimator::kill_test
