# The three examples that Microsoft published, in their forms: infert, attitude, iris.
source("support/begin.R")

two <- suppressWarnings(rxNeuralNet(
  isCase ~ age + parity + education + spontaneous + induced,
  transforms = list(isCase = case == 1), data = infert, verbose = 0
))
scores <- rxPredict(two, data = infert, extraVarsToWrite = "isCase", outData = NULL)
stopifnot(
  identical(names(scores), c("isCase", "PredictedLabel", "Score", "Probability")),
  identical(scores$isCase, infert$case == 1),
  is.logical(scores$PredictedLabel),
  all(scores$PredictedLabel == (scores$Score > 0)),
  max(abs(stats::plogis(scores$Score) - scores$Probability)) < 1e-6,
  # Rows that are cases have the higher probability.
  diff(tapply(scores$Probability, scores$isCase, mean)) > 0
)

attitudeForm <- rating ~ complaints + privileges + learning + raises + critical + advance
number <- rxNeuralNet(formula = attitudeForm, data = attitude, type = "regression", verbose = 0)
scores <- rxPredict(number, data = attitude, extraVarsToWrite = "rating")
stopifnot(
  identical(names(scores), c("rating", "Score")),
  sqrt(mean((scores$Score - scores$rating)^2)) < sd(attitude$rating)
)

many <- rxNeuralNet(
  formula = Species ~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width,
  type = "multiClass", data = iris, optimizer = sgd(learningRate = 0.1), verbose = 0
)
scores <- rxPredict(many, data = iris, extraVarsToWrite = "Species", outData = NULL)
stopifnot(
  identical(names(scores), c(
    "Species", "PredictedLabel", "Score.setosa", "Score.versicolor", "Score.virginica"
  )),
  identical(levels(scores$PredictedLabel), levels(iris$Species)),
  mean(scores$Species != scores$PredictedLabel) < 0.1,
  max(abs(rowSums(scores[3:5]) - 1)) < 1e-6,
  # The weights that the reference prints for this network.
  any(grepl("803 parameters", capture.output(print(many))))
)
told <- capture.output(print(summary(many)))
stopifnot(
  told[1] == "Neural network, multiClass",
  told[2] == "formula: Species ~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width",
  any(grepl("output Result auto softmax", told, fixed = TRUE))
)
