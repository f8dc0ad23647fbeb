// The flag --skip_bad_records, of programs whose input may be damaged.
#ifndef MODELS_COMMON_SKIP_BAD_RECORDS_H_
#define MODELS_COMMON_SKIP_BAD_RECORDS_H_

#include <gflags/gflags.h>

#include "models/common/run_config_flags.h"

// The number of damaged records, and of examples that cannot be used, that a run skips with a
// warning. One more is an error.
DECLARE_int64(skip_bad_records);

namespace estimator {

// Requires that the flag is not negative.
FlagRequirement SkipBadRecordsRequirement();

}  // namespace estimator

#endif  // MODELS_COMMON_SKIP_BAD_RECORDS_H_
