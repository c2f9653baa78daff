"""What `svdecode demo` computes (`analysis`) and shows (`page`)."""
