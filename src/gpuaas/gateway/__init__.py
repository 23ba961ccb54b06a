"""The SSH gateway of a node: terminates SSH for its environments, and outlives the agent (docs/design/oci.md)."""
