-- It's a batch of our own making; N'rxNeuralNet' is no string here.
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
GO
