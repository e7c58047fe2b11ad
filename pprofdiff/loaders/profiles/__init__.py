"""The bytes of profile.proto to `model.profiles.profile.Profile`, and back."""
