"""How people speak, and are spoken to: text with places, documents, models, diagnostics."""
