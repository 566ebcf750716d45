"""Networks in integers in formats of others: ONNX with QuantizeLinear and DequantizeLinear, of the
codes, weights and scales of the compiled network.

Uses the engine's exports; knows no C.
"""
