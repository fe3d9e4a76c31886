"""One HTML file that holds a whole report and asks for nothing from the network."""

from pacbench.report.html.page import report_page

__all__ = ["report_page"]
