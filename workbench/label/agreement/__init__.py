"""Agreement of annotators beyond chance, with intervals; disputes; confusion tables that open their cases."""
