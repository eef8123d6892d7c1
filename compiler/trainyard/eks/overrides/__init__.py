"""The keys by which a spec overrides what is generated: versions and values of components, patches, own objects."""
