module taskbench/peers

go 1.18
