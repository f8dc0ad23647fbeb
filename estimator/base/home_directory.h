// Expands `~/` at the beginning of a path. A shell does so only at the beginning of a word, and not
// in --model_dir=~/run.
#ifndef ESTIMATOR_BASE_HOME_DIRECTORY_H_
#define ESTIMATOR_BASE_HOME_DIRECTORY_H_

#include <string>

#include "estimator/base/string_arg.h"

namespace estimator {

// Replaces the `~` of "~" and of "~/..." by the user's home directory: $HOME, or the entry of the
// user database. Any other path, also "~user/...", is returned as it is. To name a file that is
// called "~", write "./~".
std::string ExpandHome(StringArg path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_HOME_DIRECTORY_H_
