# how the experiments were started
cntk configFile=01_one_hidden.cntk imageLayout=cudnn
cntk configFile=04_selected.cntk which=deep
cntk configFile=05_speech.cntk
