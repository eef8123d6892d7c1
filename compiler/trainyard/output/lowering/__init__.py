"""What ``lower`` of features shares: pieces of bodies, stacks and pages, Terraform modules, the cdk8s program."""
