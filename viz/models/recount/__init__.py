"""What a model says once more by another way, a small part at a time: what live checks compare with."""
