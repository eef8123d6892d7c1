"""The shape of a model: its layers and sizes, as a spec or the `config.json` of Hugging Face says them."""
