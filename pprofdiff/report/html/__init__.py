"""The report as one HTML file: what its parts show, and the page around them."""
