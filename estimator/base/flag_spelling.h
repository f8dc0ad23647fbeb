// FlagSpelling: another way to write a flag on the command line. gflags has flags of one type only;
// with this a bool flag can take a third value:
//
//   DEFINE_bool(use_tpu, true, "...; auto: on the devices that are found");
//   DEFINE_bool(detect_accelerator, false, "the same as --use_tpu=auto");
//   const FlagSpelling kAuto("use_tpu=auto", "detect_accelerator=true");
#ifndef ESTIMATOR_BASE_FLAG_SPELLING_H_
#define ESTIMATOR_BASE_FLAG_SPELLING_H_

#include <string>
#include <vector>

#include "estimator/base/string_arg.h"

namespace estimator {

// While it lives, Main reads the argument --`spelling` as --`meaning`. Both are without dashes.
// Arguments are only read on the command line: a --flagfile needs the meaning. For objects of
// static storage duration; not thread-safe.
class FlagSpelling {
 public:
  FlagSpelling(StringArg spelling, StringArg meaning);
  ~FlagSpelling();
  FlagSpelling(const FlagSpelling&) = delete;
  FlagSpelling& operator=(const FlagSpelling&) = delete;

 private:
  std::string spelling_;
};

// The argument that is meant: "--detect_accelerator=true" for "--use_tpu=auto" and "-use_tpu=auto".
// Any other argument is returned as it is.
std::string MeaningOfArgument(StringArg argument);

// The values of `flag`, without dashes, that only a FlagSpelling allows: {"auto"} for "use_tpu".
std::vector<std::string> SpelledValues(StringArg flag);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FLAG_SPELLING_H_
