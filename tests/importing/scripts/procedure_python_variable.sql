CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @script nvarchar(max);
SELECT @script = N'
import microsoftml as ml
NET = ''input Measures [4];\nhidden Hidden [4] tanh from Measures all;\noutput Species [3] softmax from Hidden all;'' # @spec NET
fit = ml.rx_neural_network("species ~ both + sepal_width", InputDataSet, "multiClass", net_definition=NET, # @call fit columns=petal_length,petal_width,sepal_length,sepal_width @lost data
    ml_transforms=[ml.concat(cols={"both": ["petal_length", "petal_width", "sepal_length"]})], num_iterations=2)
';
EXEC sp_execute_external_script N'Python', @script;
END
GO
