"""The start page: the app's subject, one head on one sentence, and links to the lessons and pages."""
