"""The prompt explorer and the comparison of variants, on one page: `wb.explore` and `wb.compare`."""
