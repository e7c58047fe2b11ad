"""Decode profile.proto into `model.profiles.profile.Profile`, and encode it."""
