// The program that holds models against reference runs. For a model of your own:
//
//   int main(int argc, char** argv) {
//     return estimator::replay::ReplayMain(argc, argv, {{"my_model", ModelFn}});
//   }
//
// with deps = ["//tools/replay:replay_main"], then
//   my_replay --folder=models/mine/testdata/reference
// tools/replay/replay_reference.cc is this program with the cases of testdata/reference.
#ifndef TOOLS_REPLAY_MAIN_H_
#define TOOLS_REPLAY_MAIN_H_

#include <map>
#include <string>

#include "tools/replay/model.h"

namespace estimator::replay {

// Reads flags (--help lists them), replays, and prints a report for each case: what matches with
// the largest differences, or the first step and tensor that differ. `models`: by the name of the
// case.
//   --case=NAME        the model; if none is named, that which has the name of DIR, else all
//   --folder=DIR       its reference; else <--reference_dir>/<case>
// Returns the exit code: 0 if all match, 1 if one differs or cannot be replayed, 2 for wrong usage.
int ReplayMain(int argc, char** argv, const std::map<std::string, Model>& models);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_MAIN_H_
