"""What we are measured against, each on its documented fast path."""
