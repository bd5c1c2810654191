"""What runs and studies say: each view turns results into numbers and text."""
