# The three networks of the reference of MicrosoftML. With library(netsharp) in place of the first
# line R trains them; one of the calls is run from anywhere, with the log of its host, by
# netsharp run published.R::cases --rx-log
library(MicrosoftML)

women <- read.csv("infert.csv")
cases <- rxNeuralNet(
  isCase ~ age + parity + education + spontaneous + induced,
  data = women
)
rxPredict(cases, data = head(women), extraVarsToWrite = "isCase")

iris <- read.csv("../iris/iris.csv")
flowers <- rxNeuralNet(
  species ~ sepal_length + sepal_width + petal_length + petal_width,
  data = iris,
  type = "multiClass"
)
rxPredict(flowers, data = head(iris), extraVarsToWrite = "species")

attitude <- read.csv("attitude.csv")
ratings <- rxNeuralNet(
  rating ~ complaints + privileges + learning + raises + critical + advance,
  data = attitude,
  type = "regression"
)
rxPredict(ratings, data = head(attitude), extraVarsToWrite = "rating")
