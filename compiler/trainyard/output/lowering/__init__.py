"""What the rooms' ``lower`` modules share: pieces of bodies, stacks and pages, Terraform modules, the cdk8s program."""
