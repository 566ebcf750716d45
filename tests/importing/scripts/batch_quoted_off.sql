-- It's a batch of our own making; N'rxNeuralNet' is no string here.
SET ANSI_NULLS, QUOTED_IDENTIFIER OFF
GO
DECLARE @c nvarchar(max);
SET @c = "
net <- '// @spec net
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
'
fit <- rxNeuralNet(species ~ ., type = 'multiClass', netDefinition = net, numIterations = 2) # @call fit epochs=2
";
EXEC sp_execute_external_script @language = 'R', @script = @c;
GO
SET QUOTED_IDENTIFIER ON
GO
