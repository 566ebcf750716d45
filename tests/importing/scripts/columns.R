iris <- read.csv("iris.csv")
iris$species <- factor(iris$species, levels = c("virginica", "setosa", "versicolor")) # @lost factor of species
fit <- rxNeuralNet(species ~ petal + sepal_width, data = iris, type = "multiClass", # @call fit columns=petal_length,petal_width,sepal_width
  mlTransforms = list(concat(vars = list(petal = c("petal_length", "petal_width"))),
    selectFeatures("petal", mode = mutualInformation())), # @lost mlTransforms
  numHiddenNodes = 4, numIterations = 2)
