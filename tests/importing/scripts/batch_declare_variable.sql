-- It's a batch of our own making; N'rxNeuralNet' is no string here.
DECLARE @n int = 3, @script nvarchar(max) = N'
definition <- ''// @spec definition
    input Measures [4];
    hidden Hidden [6] tanh from Measures all;
    output Species [3] softmax from Hidden all;
''
model <- rxNeuralNet(formula = species ~ petal_length + petal_width + sepal_length + sepal_width, # @call model columns=petal_length,petal_width,sepal_length,sepal_width learning_rate=0.05 momentum=0.5
    data = InputDataSet, type = "multi", netDefinition = definition, # @lost data
    optimizer = sgd(learningRate = 0.05, momentum = 0.5), numIterations = 2L)
';
EXECUTE sys.sp_execute_external_script N'R', @script;
GO
