net <- r"[// @spec net
    input Measures [2,2];
    hidden Hidden [3] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
]"
other <- R'--(// @spec other
    input Measures [4];
    hidden Hidden [4] tanh from Measures all;
    output Species [3] softmax from Hidden all;
)--'
fit <- rxNeuralNet(species ~ ., type = "multiClass", netDefinition = net, numIterations = 2) # @call fit epochs=2
more <- MicrosoftML::rxNeuralNet(species ~ ., type = "multiClass", netDefinition = other, numIterations = 2) # @call more epochs=2
