"""Writers that render a `ReportModel`: text, Markdown, HTML, JSON, CSV and pprof."""
