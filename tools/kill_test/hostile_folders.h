// Makes model directories as a stranger may send them: links, pipes and devices in the place of
// files, state files that name files elsewhere, files of a terabyte, nested text, odd names.
#ifndef TOOLS_KILL_TEST_HOSTILE_FOLDERS_H_
#define TOOLS_KILL_TEST_HOSTILE_FOLDERS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace estimator::kill_test {

inline constexpr int kNumHostileFolders = 200;

// Where the folder is made, and what it points to.
struct HostileOptions {
  std::string whole;      // a model_dir with the checkpoints 4 and 8, which is copied
  std::string to;         // the folder to make; it does not exist
  std::string thesis;     // a file of the user
  std::string elsewhere;  // a folder of the user, with checkpoints of the same names
  std::string disk;       // a folder that a link in the folder may lead to, such as another disk
};

// Makes folder number `index`, in [0, kNumHostileFolders). Returns what is hostile in it.
// Errors: those of the file system.
absl::StatusOr<std::string> MakeHostileFolder(int index, const HostileOptions& options);

// What a user runs on such a folder: training of a tiny model, with a checkpoint every 4 steps, of
// which 2 are kept, and its evaluation.
absl::Status TrainTiny(const std::string& model_dir, int64_t max_steps);
absl::Status EvaluateTiny(const std::string& model_dir);

}  // namespace estimator::kill_test

#endif  // TOOLS_KILL_TEST_HOSTILE_FOLDERS_H_
