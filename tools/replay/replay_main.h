// The program that compares models with reference runs. For your own model, write:
//
//   int main(int argc, char** argv) {
//     return estimator::replay::ReplayMain(argc, argv, {{"my_model", ModelFn}});
//   }
//
// with deps = ["//tools/replay:replay_main"], and run
//
//   my_replay --folder=models/mine/testdata/reference
//
// tools/replay/replay_reference.cc is this program with the cases of testdata/reference.
#ifndef TOOLS_REPLAY_MAIN_H_
#define TOOLS_REPLAY_MAIN_H_

#include <map>
#include <string>

#include "tools/replay/model.h"

namespace estimator::replay {

// Reads flags (--help lists them), replays the cases, and prints a report for each: the largest
// differences of a match, or the first step and tensor that differ.
//   models: by the name of the case.
//   --case=NAME   the case. Default: the case with the name of DIR, or else all.
//   --folder=DIR  the reference of the case. Default: <--reference_dir>/<case>.
// Returns the exit code: 0 if all match, 1 if one differs or cannot be replayed, 2 for wrong usage.
int ReplayMain(int argc, char** argv, const std::map<std::string, Model>& models);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_MAIN_H_
