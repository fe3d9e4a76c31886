"""Methods that joint upsampling with PAC is compared with: filters, solvers, networks."""
