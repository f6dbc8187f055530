"""Commands that start a server on this computer: JupyterLab, or a language model."""
