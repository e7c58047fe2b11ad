module example.com/field/capture

go 1.19
