"""Figures of models of images: over the drawn images, of one image, and of interventions on it."""
