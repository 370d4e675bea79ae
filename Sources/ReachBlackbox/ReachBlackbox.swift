// The probes of `/probe`: what a module of the configuration asks of a target, and what it measures.
