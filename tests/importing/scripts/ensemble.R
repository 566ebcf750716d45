iris <- read.csv("iris.csv")
models <- rxEnsemble(species ~ petal_length + petal_width, data = iris, type = "multiClass",
  modelCount = 3, # @lost modelCount
  trainers = list(
    neuralNet(numHiddenNodes = 5, numIterations = 2), # @call models columns=petal_length,petal_width hidden_nodes=5 @lost rxEnsemble
    rxFastTrees(),
    neuralNet(optimizer = adaDeltaSgd(), numIterations = 2))) # @call models_2 optimizer=adadelta train=iris.csv @lost rxEnsemble
