"""CNTK's SGD (SGDLib/SGD.cpp): rates, rules, decisions between epochs, and reports of them.

It asks a program for every number and must not know files of data.
"""
