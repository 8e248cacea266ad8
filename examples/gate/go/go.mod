module example.org/five

go 1.19
