lines <- readLines("measures.nn")
net <- paste(lines, collapse = "\n")
fit <- rxNeuralNet(species ~ ., type = "multiClass", netDefinition = net, numIterations = 2) # @call fit epochs=2
again <- rxNeuralNet(species ~ ., type = "multiClass", # @call again epochs=3
  netDefinition = paste(readLines("measures.nn"), collapse = "\n"), numIterations = 3)
lost <- rxNeuralNet(species ~ ., netDefinition = readLines("nowhere.nn")) # @call lost @lost netDefinition
