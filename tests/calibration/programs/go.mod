module example.com/calibration

go 1.21
