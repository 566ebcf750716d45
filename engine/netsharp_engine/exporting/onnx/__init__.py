"""Graphs as ONNX models: operators, constants, loops over time, and the check of the result.

The only place of the packages `onnx` and `onnxruntime`; both are loaded when a model is written.
"""
