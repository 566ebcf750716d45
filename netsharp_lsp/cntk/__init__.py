"""The CNTK languages: BrainScript, NDL, model edits and configurations, each in a package of its
own.
"""
