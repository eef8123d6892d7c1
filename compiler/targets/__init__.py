"""What several targets write by: templates of text and of stacks, modules of Terraform, and the program of cdk8s."""
