CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @s nvarchar(max) = N'
net <- r"---(// @spec net
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
)---"
fit <- rxNeuralNet(species ~ ., data = InputDataSet, type = "multiClass", netDefinition = net, # @call fit max_norm=2 init_diameter=0.4 @lost data
    maxNorm = 2, initWtsDiameter = 0.4, numIterations = 2)
';
EXEC sp_execute_external_script N'R', @s;
END
GO
