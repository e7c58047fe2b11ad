"""One `ReportModel`, many writers: text, JSON, CSV, pprof."""
