net <- paste0("input Measures [4];\n", "hidden Hidden [6] sigmoid from Measures all;\n", # @spec net
  "output Species [3] softmax from Hidden all;")
lines <- paste("input Measures [4];", "output Species [3] softmax from Measures all;", sep = "\n") # @unread
fit <- rxNeuralNet(species ~ ., data = d, type = "multiClass", netDefinition = net, numIterations = 2) # @call fit epochs=2 @lost data
flat <- rxNeuralNet(species ~ ., type = "multiClass", netDefinition = lines, numIterations = 2) # @call flat epochs=2
none <- rxNeuralNet(species ~ ., type = "multiClass", netDefinition = paste0("input X [", n, "];")) # @call none @lost netDefinition
