internal import Glibc

// Everything else is elsewhere: a closure written in this file would belong to the main actor.
exit(Program.main(Array(CommandLine.arguments.dropFirst())))
