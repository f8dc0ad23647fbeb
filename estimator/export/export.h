// Exported models: what a model_fn declares for export, and predictions from a SavedModel.
#ifndef ESTIMATOR_EXPORT_EXPORT_H_
#define ESTIMATOR_EXPORT_EXPORT_H_

#include "estimator/export/serving/load_predictor.h"
#include "estimator/export/serving/predictor.h"
#include "estimator/export/signature/export_output.h"
#include "estimator/export/signature/input_receiver.h"

#endif  // ESTIMATOR_EXPORT_EXPORT_H_
