runBenchmarks(named: Array(CommandLine.arguments.dropFirst()))
