#!/bin/sh
# how they were started, one after the other
cntk configFile=01_plane.cntk
cntk configFile=02_columns.cntk
cntk configFile=03_layer_by_layer.cntk DeviceNumber=-1
cntk configFile=04_simple.cntk
cntk configFile=05_words.cntk
cntk currentDirectory=tagging/config configFile=globals.cntk+tagger.cntk
cntk configFile=07_slots.cntk
cntk configFile=08_pictures.cntk
cntk configFile=08_pictures.cntk+09_composite.cntk command=Train
cntk configFile=10_adjusting.cntk stderr=Output/10/log "speechless=[SGD=[maxEpochs=3]]"
cntk configFile=11_truncated.cntk
cntk configFile=12_one_bit.cntk stderr=Output/12/log
