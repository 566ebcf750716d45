CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @cmd nvarchar(max);
SET @cmd = N'
library(MicrosoftML)
# It''s the first network.
net <- "// @spec net
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
"
fit <- rxNeuralNet(species ~ ., data = InputDataSet, type = "multiClass", # @call fit task=multiclass label=species epochs=3 @lost data
    numIterations = 3, netDefinition = net)
';
EXEC sp_execute_external_script @language = N'R', @script = @cmd, @input_data_1 = N'SELECT * FROM [dbo].[iris]';
END
GO
