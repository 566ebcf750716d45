-- It's a batch of our own making; N'rxNeuralNet' is no string here.
DECLARE @sql nvarchar(max) = N'/* it''s dynamic */ EXEC sp_execute_external_script @language = N''R'', @script = N''
net <- "// @spec net
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
"
fit <- rxNeuralNet(species ~ ., type = ''''multiClass'''', netDefinition = net, # @call fit epochs=2
    numIterations = 2, normalize = ''''no'''')
'';';
EXEC sp_executesql @sql;
GO
