"""Reads "{features}<tab>label" lines, trains 100 trees of depth 6, writes the model to the path of the first argument."""
import sys

import numpy
import xgboost

rows, labels = [], []
for line in sys.stdin:
    features, label = line.split("\t")
    rows.append([float(value) for value in features.strip("{}").split(",")])
    labels.append(int(label))
matrix = xgboost.DMatrix(numpy.array(rows, dtype=numpy.float32), label=numpy.array(labels))
parameters = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.3, "tree_method": "hist", "nthread": 2}
xgboost.train(parameters, matrix, 100).save_model(sys.argv[1])
