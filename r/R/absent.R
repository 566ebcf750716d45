# Arguments and functions of MicrosoftML and RevoScaleR that are not supported, and what to use
# instead of each.

ARGUMENTS <- c(
  transformFunc = "Call it on the data frame beforehand.",
  transformVars = "It belongs to transformFunc: call that on the data frame beforehand.",
  transformPackages = "Load them with library() beforehand.",
  transformEnvir = "Give objects of the transforms in transformObjects = list(...).",
  computeContext = "Training runs on this machine: read the rows of a database into a data frame.",
  ensemble = "Train several networks on samples of the rows and average their scores.",
  outData = "Write the data frame that comes back: write.csv(scores, \"scores.csv\")."
)

# Refuse the first argument that has a value and is not supported.
refuse_given <- function(called, ...) {
  given <- list(...)
  for (name in names(given)) {
    if (!is.null(given[[name]])) {
      refuse(called, " does not take ", name, " here. ", ARGUMENTS[[name]])
    }
  }
}

# A function of MicrosoftML that is not supported: it exists by its name, and refuses each call.
absent <- function(name, way) {
  force(name)
  force(way)
  function(...) refuse(name, " is not part of netsharp. In its place: ", way, ".")
}

ROWS_OF_A_DATABASE <- "DBI::dbGetQuery() of the packages DBI and odbc, which gives a data frame"
HERE <- "nothing; everything is computed on this machine, so remove the call"
PIXELS <- "the package magick: one column of the data frame a pixel"
TERMS <- "the package text2vec: one column of the data frame a term"

# Learners.
rxFastTrees <- absent("rxFastTrees", "the package gbm or xgboost")
rxFastForest <- absent("rxFastForest", "the package ranger or randomForest")
rxFastLinear <- absent("rxFastLinear", "the package LiblineaR")
rxLogisticRegression <- absent("rxLogisticRegression", "the package glmnet")
rxOneClassSvm <- absent("rxOneClassSvm", "svm(type = \"one-classification\") of the package e1071")
rxEnsemble <- absent("rxEnsemble", "the package SuperLearner or caretEnsemble")
ensembleControl <- absent("ensembleControl", "the package SuperLearner or caretEnsemble")
rxLinMod <- absent("rxLinMod", "lm() of R")
rxLogit <- absent("rxLogit", "glm(family = binomial()) of R")
rxGlm <- absent("rxGlm", "glm() of R")
rxDTree <- absent("rxDTree", "the package rpart")
rxDForest <- absent("rxDForest", "the package randomForest")
rxBTrees <- absent("rxBTrees", "the package gbm")
rxNaiveBayes <- absent("rxNaiveBayes", "naiveBayes() of the package e1071")
rxKmeans <- absent("rxKmeans", "kmeans() of R")

# Transforms of columns.
rxFeaturize <- absent("rxFeaturize", "transform() of R")
categorical <- absent("categorical", "factor() on the column of the data frame")
categoricalHash <- absent("categoricalHash", "the package FeatureHashing")
selectFeatures <- absent("selectFeatures", "the package FSelectorRcpp")
featurizeText <- absent("featurizeText", TERMS)
getSentiment <- absent("getSentiment", "the package syuzhet")
featurizeImage <- absent("featurizeImage", "the package torchvision")
loadImage <- absent("loadImage", PIXELS)
resizeImage <- absent("resizeImage", PIXELS)
extractPixels <- absent("extractPixels", PIXELS)

# Sources of data and compute contexts.
RxXdfData <- absent("RxXdfData", "a data frame, which saveRDS() keeps in a file")
RxTextData <- absent("RxTextData", "read.csv() of R, or fread() of the package data.table")
RxSqlServerData <- absent("RxSqlServerData", ROWS_OF_A_DATABASE)
RxOdbcData <- absent("RxOdbcData", ROWS_OF_A_DATABASE)
RxTeradata <- absent("RxTeradata", ROWS_OF_A_DATABASE)
RxHiveData <- absent("RxHiveData", ROWS_OF_A_DATABASE)
RxParquetData <- absent("RxParquetData", "read_parquet() of the package arrow")
RxOrcData <- absent("RxOrcData", "the package arrow")
RxSasData <- absent("RxSasData", "read_sas() of the package haven")
RxSpssData <- absent("RxSpssData", "read_sav() of the package haven")
rxSetComputeContext <- absent("rxSetComputeContext", HERE)
rxGetComputeContext <- absent("rxGetComputeContext", HERE)
RxComputeContext <- absent("RxComputeContext", HERE)
RxLocalSeq <- absent("RxLocalSeq", HERE)
RxLocalParallel <- absent("RxLocalParallel", HERE)
RxInSqlServer <- absent("RxInSqlServer", HERE)
RxSpark <- absent("RxSpark", HERE)
RxHadoopMR <- absent("RxHadoopMR", HERE)
rxOptions <- absent("rxOptions", HERE)

# Work on data, and figures of scores.
rxImport <- absent("rxImport", "read.csv() of R, or fread() of the package data.table")
rxReadXdf <- absent("rxReadXdf", "readRDS() of a data frame that saveRDS() has written")
rxDataStep <- absent("rxDataStep", "transform() and subset() of R on the data frame")
rxMerge <- absent("rxMerge", "merge() of R")
rxSort <- absent("rxSort", "order() of R: data[order(data$a), ]")
rxFactors <- absent("rxFactors", "factor() of R")
rxSplit <- absent("rxSplit", "split() of R")
rxSummary <- absent("rxSummary", "summary() of R")
rxGetInfo <- absent("rxGetInfo", "str() of R")
rxGetVarInfo <- absent("rxGetVarInfo", "str() of R")
rxRoc <- absent("rxRoc", "roc() of the package pROC")
rxRocCurve <- absent("rxRocCurve", "plot(roc(...)) of the package pROC")
rxAuc <- absent("rxAuc", "auc() of the package pROC")
rxLinePlot <- absent("rxLinePlot", "plot() of R")
rxHistogram <- absent("rxHistogram", "hist() of R")
