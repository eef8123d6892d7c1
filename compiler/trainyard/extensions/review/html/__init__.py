"""The report as one HTML file that loads nothing: ``page.page`` writes it from the same values as the Markdown.

Sections are the blocks of ``extensions.review.report``. What is drawn, the cluster with its nodes and the bars beside
tables, is made of the subject. Templates say how it looks, and decide nothing (docs/adr/0035).
"""
