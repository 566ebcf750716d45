CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @t sysname = N'iris', @c nvarchar(max);
SET @c = N'
table <- "' + QUOTENAME(@t, '''') + N'"
netDefinition <- ("// @spec netDefinition
    input Measures [4];
    hidden Hidden [3] tanh from Measures all;
    output Species [3] softmax from Hidden all;
")
fit <- rxNeuralNet(species ~ ., data = InputDataSet, type = "multiClass", # @call fit batch_size=10 @lost data
    netDefinition = netDefinition, miniBatchSize = 10, numIterations = 2)
' + N'
summary(fit)';
EXEC sp_execute_external_script @language = N'R', @script = @c;
END
GO
