// Targets that are listed elsewhere: in files, by a server, in DNS.
