"""What a trained team shows: its values, its contexts, its episodes, and how it plays with others."""
