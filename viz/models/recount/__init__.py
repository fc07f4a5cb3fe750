"""A small part of what a model says, computed by another way: live checks compare with it."""
