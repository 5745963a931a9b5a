module wheelproof/adapters/standard-go

go 1.26
