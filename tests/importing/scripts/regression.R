net <- "input Rest auto; hidden Hidden [4] tanh from Rest all; output Width [1] linear from Hidden all;" # @spec net
fit <- rxNeuralNet(petal_width ~ petal_length + sepal_length:sepal_width + log(sepal_length), # @call fit columns=petal_length @lost formula
  data = iris, type = "regression", netDefinition = net, numIterations = 2) # @lost data
broken <- rxNeuralNet(y ~ ., netDefinition = "input X [3]; output Y [1] linear from Z all;") # !NS035 @spec broken @call broken
built <- rxNeuralNet(y ~ ., netDefinition = makeNet(3)) # @call built @lost netDefinition
