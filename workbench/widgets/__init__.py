"""Shared parts of both widgets: one look, one way to the kernel, and results and queries as JSON.

A widget is one `anywidget.AnyWidget` and one `view.js` of plain DOM. JSON traits say what it shows, messages ask for
actions, and text reaches the page by `textContent` only. Python holds the state and no layout.
"""
