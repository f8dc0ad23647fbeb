// Input: datasets, the sources that read files, and the parsing of Examples and CSV.
#ifndef ESTIMATOR_DATA_DATA_H_
#define ESTIMATOR_DATA_DATA_H_

#include "estimator/data/parsing/decode_csv.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/sources/csv_dataset.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/data/sources/idx.h"
#include "estimator/data/transforms/cast_arrays.h"
#include "estimator/records/tfrecord_index.h"

#endif  // ESTIMATOR_DATA_DATA_H_
