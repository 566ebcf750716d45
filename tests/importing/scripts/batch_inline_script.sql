-- It's a batch of our own making; N'rxNeuralNet' is no string here.
EXEC sp_execute_external_script
    @language = N'R', -- it's R
    @script = N'
fit <- rxNeuralNet(species ~ ., InputDataSet, "multiClass", # @call fit hidden_nodes=100 @lost data
    netDefinition = "// @spec fit
    input Measures [4];
    hidden Hidden [4] rlinear from Measures all;
    output Species [3] softmax from Hidden all;
", numIterations = 2, normalize = "yes")
',
    @input_data_1 = N'SELECT * FROM iris WHERE species <> ''x''';
GO
