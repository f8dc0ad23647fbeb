#include "models/common/skip_bad_records.h"

DEFINE_int64(skip_bad_records, 0,
             "skip up to this number of damaged records, and of examples that cannot be used, each "
             "with a warning; one more is an error");

namespace estimator {

FlagRequirement SkipBadRecordsRequirement() {
  return {"skip_bad_records", FLAGS_skip_bad_records >= 0, "at least 0"};
}

}  // namespace estimator
