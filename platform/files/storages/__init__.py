"""Where contents lie: a folder of this machine, or a bucket of an S3-compatible server. Neither makes links."""
