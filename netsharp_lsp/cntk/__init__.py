"""The CNTK languages: BrainScript, NDL, model edits and configurations, each in its own room."""
