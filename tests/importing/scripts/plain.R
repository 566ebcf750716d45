library(MicrosoftML)
iris <- read.csv("iris.csv", stringsAsFactors = TRUE)
net <- "// @spec net
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
"
fit <- rxNeuralNet(species ~ ., data = iris, type = "multiClass", # @call fit train=iris.csv label=species epochs=2
                   netDefinition = net, numIterations = 2)
