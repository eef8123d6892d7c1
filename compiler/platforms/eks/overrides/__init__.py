"""What a spec says instead of Trainyard: versions and values of components, patches of objects, objects of its own."""
