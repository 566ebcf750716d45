# It's a script whose settings stand in variables.
rounds <- 2L
rate <- 0.05
rule <- sgd(learningRate = rate, lRateRedRatio = 0.5, lRateRedFreq = 1, weightDecay = 0.001)
target <- "species"
net <- '// @spec net
    input Measures [4];
    hidden Hidden [4] tanh from Measures all;
    output Species [3] softmax from Hidden all;
'
iris <- read.csv("iris.csv")
fit <- rxNeuralNet(as.formula(paste(target, "~ .")), iris, "multiClass", # @call fit train=iris.csv label=species epochs=2 rate_reduction_ratio=0.5 weight_decay=0.001
  netDefinition = net, numIterations = rounds, optimizer = rule)
later <- rxNeuralNet(species ~ ., data = iris, # @call later label=species
  numIterations = rounds + 1, # @lost numIterations
  type = kind) # @lost type
