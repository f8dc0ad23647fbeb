// CsvDataset: the records of CSV files as named columns.
#ifndef ESTIMATOR_DATA_SOURCES_CSV_DATASET_H_
#define ESTIMATOR_DATA_SOURCES_CSV_DATASET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/records/compression.h"

namespace estimator {

struct CsvDatasetOptions {
  Compression compression = Compression::kNone;
  int64_t buffer_size_bytes = 256 << 10;  // the number of bytes of a file that are read at once
  bool header = false;                    // skips the first line of each file
  std::string field_delim = ",";          // as in DecodeCsvOptions, and so the next three
  bool use_quote_delim = true;
  std::string na_value = "";
  std::vector<int> select_cols = {};
  // The names of the arrays of an element, one for each of record_defaults. Without any, they are
  // those of the header of the first file, or else "column_<number in the file>".
  std::vector<std::string> column_names = {};
  // The names of the columns that become labels. A single label has the name "".
  std::vector<std::string> labels = {};
  int num_parallel_calls = 1;  // of parsing, as in MapOptions
};

// The records of the files in order, as scalars by name. A quoted field may have several lines. A
// record ends where TensorFlow's ends (parsing/csv_field.h). A byte order mark is dropped.
//   files: as those of TFRecordDataset.
//   record_defaults: the dtypes and defaults of the columns, as those of DecodeCsv.
// Errors (of MakeIterator): NOT_FOUND for missing files; INVALID_ARGUMENT for options that are not
// valid, or if the header has another number of columns.
// Errors (of Next): as DecodeCsv, with the file, the record and its byte offset; DATA_LOSS for a
// record of more than 64 MiB.
// Source: TF 2.15 tf.data.experimental.CsvDataset, whose elements are tuples; the names are those
// of make_csv_dataset.
Dataset CsvDataset(std::vector<std::string> files, std::vector<Array> record_defaults,
                   CsvDatasetOptions options = {});

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_CSV_DATASET_H_
