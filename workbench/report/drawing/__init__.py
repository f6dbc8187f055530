"""The look of every figure and table: colours, text, print sizes, the bytes of the file."""
