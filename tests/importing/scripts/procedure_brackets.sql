CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @script nvarchar(max) = (N'
netDefinition <- (''// @spec netDefinition
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
'')
fit <- rxNeuralNet(species ~ . - sepal_width, data = InputDataSet, type = "multiClass", # @call fit exclude=sepal_width @lost data
    netDefinition = sub, numIterations = 2) # @lost netDefinition
other <- rxNeuralNet(species ~ ., type = "multiClass", netDefinition = netDefinition, numIterations = 2) # @call other epochs=2
');
EXEC [sp_execute_external_script] @language=N'R', @script=@script;
END
GO
