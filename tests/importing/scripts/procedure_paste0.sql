CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @s nvarchar(max) = N'
net <- paste0("input Measures [4];\n", "hidden Hidden [5] tanh from Measures all;\n", # @spec net
              ''output Species [3] softmax from Hidden all;'')
fit <- mxNeuralNet(as.formula(paste("species", "~ .")), data = InputDataSet, type = "multiClass", # @call fit label=species optimizer=adadelta @lost data
    netDefinition = net, optimizer = maOptimizerAda(decay = 0.9), numIterations = 2)
';
EXEC sp_execute_external_script @script = @s, @language = N'R';
END
GO
