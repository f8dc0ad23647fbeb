// Fuzzes the parser of CSV lines. The first byte selects the options, the rest is the line:
//   bit 0      use_quote_delim
//   bit 1      select_cols = {1, 2}
//   bit 2      the delimiter is ";"
#include <cstdint>

#include "estimator/base/testing/fuzz_input.h"
#include "estimator/data/parsing/decode_csv.h"
#include "glog/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  FuzzInput input(data, size);
  const uint8_t mode = input.Byte();
  const StringArg line(input.Rest());
  const DecodeCsvOptions options = {
      .field_delim = (mode & 4) != 0 ? ";" : ",",
      .use_quote_delim = (mode & 1) != 0,
      .na_value = "NA",
      .select_cols = (mode & 2) != 0 ? std::vector<int>{1, 2} : std::vector<int>{}};
  const auto fields = CsvFields(line, options);
  CHECK(fields.ok() || absl::IsInvalidArgument(fields.status())) << fields.status();
  if (!fields.ok()) return 0;
  CHECK((mode & 2) == 0 || fields->size() <= 2);
  // Numbers of all kinds, and strings, of the same fields.
  for (const DType dtype :
       {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64, DType::kString}) {
    const std::vector<Array> defaults(fields->size(), Array(dtype, Shape{}));
    const auto columns = DecodeCsv(line, defaults, options);
    CHECK(columns.ok() || absl::IsInvalidArgument(columns.status())) << columns.status();
    if (dtype != DType::kString || !columns.ok()) continue;
    for (size_t i = 0; i < fields->size(); ++i) {
      const std::string& field = (*fields)[i];
      CHECK((*columns)[i].scalar<std::string>() == (field == "NA" ? "" : field));
    }
  }
  return 0;
}
